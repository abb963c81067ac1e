#include "device/vulkan/staging.hpp"

#include "support/process_end.hpp"

namespace adit::vulkan {

void Staging::make_region() {
  const process_end::Visit visit;
  visit.expect();
  const std::lock_guard lock(mutex_);
  if (region_) return;
  region_ = std::make_unique<OwnRegion>(core_, pieces_ * piece_bytes_, use_);
  for (uint32_t i = 0; i < pieces_; ++i) free_.push_back({i, 0});
}

std::optional<Staging::Piece> Staging::pick(bool wait) {
  make_region();
  std::unique_lock lock(mutex_);
  if (free_.empty() && !wait) return std::nullopt;
  returned_.wait(lock, [&] { return !free_.empty(); });
  const Piece piece = free_.front();
  free_.erase(free_.begin());
  return piece;
}

Staging::Loan Staging::borrow() {
  Loan loan(*this, *pick(true));
  dispatcher_.wait(loan.last());
  return loan;
}

std::optional<Staging::Loan> Staging::try_borrow() {
  std::optional<Piece> piece = pick(false);
  if (!piece) return std::nullopt;
  Loan loan(*this, *piece);
  dispatcher_.wait(loan.last());
  return loan;
}

void Staging::give_back(Piece piece) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(piece);
  }
  returned_.notify_one();
}

}  // namespace adit::vulkan
