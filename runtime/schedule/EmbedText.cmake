# Writes OUTPUT, a C++ file that defines vdnn::schedule::kSchemaText as the text of INPUT.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include \"runtime/schedule/SchemaText.h\"\n\n"
     "const char *const vdnn::schedule::kSchemaText = R\"schema(${text})schema\";\n")
