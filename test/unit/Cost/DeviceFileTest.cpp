//===- DeviceFileTest.cpp - device files, valid and damaged ---------------===//

#include "lib/Cost/DeviceFile.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace vdnn;

namespace {

std::string titanx() { return findBuiltinDevice("titanx"); }

std::string replace(std::string text, const std::string &from,
                    const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string errorOf(const std::string &text) {
  rt::Result<DeviceFile> file = parseDeviceFile(text);
  return file.ok() ? "no error" : file.message();
}

TEST(DeviceFile, BuiltinsAreValid) {
  for (const char *name : {"cpu", "cuda", "h200", "titanx"}) {
    rt::Result<DeviceFile> file = parseDeviceFile(findBuiltinDevice(name));
    EXPECT_TRUE(file.ok()) << name << ": " << (file.ok() ? "" : file.message());
  }
  EXPECT_EQ(findBuiltinDevice("gtx"), nullptr);
  EXPECT_EQ(listBuiltinDevices(), "'cpu', 'cuda', 'h200', 'titanx'");
}

TEST(DeviceFile, ReadsEveryKey) {
  rt::Result<DeviceFile> file = parseDeviceFile(titanx());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->device.kind, "model");
  EXPECT_EQ(file->device.memoryBytes, 12ull << 30);
  EXPECT_EQ(file->flopsPerSecond.at("f32"), 7e12);
  EXPECT_EQ(file->bytesPerSecond, 336e9);
  EXPECT_EQ(file->link.deviceToHostBytesPerSecond, 12.8e9);
  EXPECT_EQ(file->link.latencyNs, 10000);
  EXPECT_EQ(file->convForward.size(), 3u);
}

TEST(DeviceFile, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf(""), "not valid JSON");
  EXPECT_EQ(errorOf("[]"), "'' must be an object");
  EXPECT_EQ(errorOf(replace(titanx(), "\"model\"", "\"gpu\"")),
            "'kind' must be 'cpu', 'cuda' or 'model', found 'gpu'");
  EXPECT_EQ(errorOf(replace(titanx(), "\"launch_ns\"", "\"lunch_ns\"")),
            "missing key 'launch_ns'");
  EXPECT_EQ(errorOf(replace(titanx(), "\"duplex_factor\"", "\"duplex\"")),
            "unknown key 'link.duplex', expected one of 'copies', "
            "'device_to_host_bytes_per_second', "
            "'device_to_host_under_compute_bytes_per_second', "
            "'duplex_factor', 'host_to_device_bytes_per_second', "
            "'host_to_device_under_compute_bytes_per_second', 'latency_ns'");
  EXPECT_EQ(
      errorOf(replace(titanx(), "\"duplex_factor\"",
                      "\"device_to_host_under_compute_bytes_per_second\": 0, "
                      "\"duplex_factor\"")),
      "'link.device_to_host_under_compute_bytes_per_second' must be a "
      "number from 1e+06 to 1e+18, found 0");
  EXPECT_EQ(
      errorOf(replace(titanx(), "7.0e12", "0")),
      "'flops_per_second.f32' must be a number from 1e+06 to 1e+18, found 0");
  EXPECT_EQ(errorOf(replace(titanx(), "336e9", "\"fast\"")),
            "'bytes_per_second' must be a number from 1e+06 to 1e+18, found a "
            "value of type string");
  EXPECT_EQ(errorOf(replace(titanx(), "\"f32\"", "\"f31\"")),
            "'flops_per_second' has no entry 'f31', expected one of 'bf16', "
            "'f16', 'f32', 'f64', 'tf32'");
  EXPECT_EQ(errorOf(replace(titanx(), "\"f32\"", "\"f16\"")),
            "missing key 'flops_per_second.f32'");
  EXPECT_EQ(errorOf(replace(titanx(), "{\"f32\": 7.0e12}", "{}")),
            "'flops_per_second' must be an object with at least one entry");
}

// Whatever stands in a file, reading it ends with a device or an error.
TEST(DeviceFile, SurvivesDamage) {
  const std::string text = titanx();
  size_t accepted = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    (void)parseDeviceFile(text.substr(0, i)).ok();
    for (char replacement : {'\0', '{', '"', '9', '-', '\xff'}) {
      std::string damaged = text;
      damaged[i] = replacement;
      accepted += parseDeviceFile(damaged).ok();
    }
  }
  EXPECT_GT(accepted, 0u); // a digit for a digit
  for (const std::string &number :
       {std::string("1e999"), std::string("-1"), std::string("1e308"),
        std::string(5000, '9'), std::string(400000, '['), std::string("null"),
        std::string("true")}) {
    EXPECT_FALSE(parseDeviceFile(replace(text, "336e9", number)).ok())
        << number.substr(0, 10);
  }
}

TEST(DeviceFile, Files) {
  rt::Result<DeviceFile> missing = loadDeviceFile("/nonexistent/device.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.message(),
            "cannot read device file '/nonexistent/device.json': cannot open "
            "'/nonexistent/device.json': No such file or directory");
  EXPECT_FALSE(loadDeviceFile("/").ok());

  std::string path = ::testing::TempDir() + "device.json";
  std::ofstream(path) << titanx();
  rt::Result<DeviceFile> first = loadDeviceFile(path);
  ASSERT_TRUE(first.ok());
  std::ofstream(path) << replace(titanx(), "7.0e12", "8.0e12");
  rt::Result<DeviceFile> second = loadDeviceFile(path);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first->device.fingerprint, second->device.fingerprint);
  std::ofstream(path) << std::string((1 << 20) + 1, ' ');
  EXPECT_FALSE(loadDeviceFile(path).ok());
}

} // namespace
