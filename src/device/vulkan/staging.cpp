#include "device/vulkan/staging.hpp"

namespace adit::vulkan {

std::optional<Staging::Piece> Staging::pick(bool wait) {
  std::unique_lock lock(mutex_);
  if (!region_) {
    region_ = std::make_unique<OwnRegion>(core_, pieces_ * piece_bytes_, use_);
    for (uint32_t i = 0; i < pieces_; ++i) free_.push_back({i, 0});
  }
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
