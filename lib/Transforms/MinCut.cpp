//===- MinCut.cpp - Dinic's algorithm -------------------------------------===//

#include "MinCut.h"

#include <algorithm>

using namespace vdnn;

static constexpr uint32_t Unreached = UINT32_MAX;

uint32_t MinCut::addNode() {
  edges_.emplace_back();
  return edges_.size() - 1;
}

void MinCut::addEdge(uint32_t from, uint32_t to, uint64_t capacity) {
  if (from == to) {
    return;
  }
  auto forward = static_cast<uint32_t>(edges_[from].size());
  auto backward = static_cast<uint32_t>(edges_[to].size());
  edges_[from].push_back({to, backward, capacity});
  edges_[to].push_back({from, forward, 0});
}

/// Distances from the source over edges with capacity left.
bool MinCut::findLevels() {
  level_.assign(edges_.size(), Unreached);
  level_[Source] = 0;
  std::vector<uint32_t> queue = {Source};
  for (size_t head = 0; head < queue.size(); ++head) {
    for (const Edge &edge : edges_[queue[head]]) {
      if (edge.capacity > 0 && level_[edge.to] == Unreached) {
        level_[edge.to] = level_[queue[head]] + 1;
        queue.push_back(edge.to);
      }
    }
  }
  return level_[Sink] != Unreached;
}

/// Finds one augmenting path along rising levels and pushes what fits.
/// Iterative, because paths are as long as the network is deep.
uint64_t MinCut::push(uint32_t start, uint64_t limit) {
  std::vector<std::pair<uint32_t, uint32_t>> path; // node, edge taken
  uint32_t node = start;
  while (node != Sink) {
    bool advanced = false;
    for (uint32_t &i = next_[node]; i < edges_[node].size(); ++i) {
      const Edge &edge = edges_[node][i];
      if (edge.capacity > 0 && level_[edge.to] == level_[node] + 1) {
        path.emplace_back(node, i);
        node = edge.to;
        advanced = true;
        break;
      }
    }
    if (advanced) {
      continue;
    }
    if (path.empty()) {
      return 0;
    }
    node = path.back().first;
    ++next_[node];
    path.pop_back();
  }
  for (auto [from, i] : path) {
    limit = std::min(limit, edges_[from][i].capacity);
  }
  for (auto [from, i] : path) {
    Edge &edge = edges_[from][i];
    edge.capacity -= limit;
    edges_[edge.to][edge.reverse].capacity += limit;
  }
  return limit;
}

std::vector<bool> MinCut::findSinkSide() {
  while (findLevels()) {
    next_.assign(edges_.size(), 0);
    while (push(Source, Infinite) > 0) {
    }
  }
  // Nodes from which the sink can still be reached: they are on its side in
  // every cheapest cut.
  std::vector<bool> sinkSide(edges_.size(), false);
  sinkSide[Sink] = true;
  std::vector<uint32_t> queue = {Sink};
  for (size_t head = 0; head < queue.size(); ++head) {
    for (const Edge &edge : edges_[queue[head]]) {
      bool open = edges_[edge.to][edge.reverse].capacity > 0;
      if (open && !sinkSide[edge.to]) {
        sinkSide[edge.to] = true;
        queue.push_back(edge.to);
      }
    }
  }
  return sinkSide;
}
