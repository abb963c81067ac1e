// Pieces of host-visible memory that transfers of a discrete device go through.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "device/vulkan/dispatcher.hpp"

namespace adit::vulkan {

class Staging {
  struct Piece {
    uint32_t index = 0;
    Ticket last = 0;  // the command that uses it
  };

 public:
  Staging(std::shared_ptr<Core> core, Dispatcher& dispatcher, RegionUse use, uint32_t pieces,
          uint64_t piece_bytes)
      : core_(std::move(core)),
        dispatcher_(dispatcher),
        use_(use),
        pieces_(pieces),
        piece_bytes_(piece_bytes) {}

  // A piece on loan. The owner says in `last` which command uses it; a piece goes back when the loan ends and
  // is lent again when that command is done.
  class Loan {
   public:
    Loan(Staging& staging, Piece piece) : staging_(&staging), piece_(piece) {}
    Loan(Loan&& other) noexcept : staging_(std::exchange(other.staging_, nullptr)), piece_(other.piece_) {}
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (staging_) staging_->give_back(piece_);
    }
    std::byte* host() const { return (*staging_->region_)->host + offset(); }
    VkBuffer buffer() const { return (*staging_->region_)->buffer; }
    uint64_t offset() const { return piece_.index * staging_->piece_bytes_; }
    void used_by(Ticket ticket) { piece_.last = ticket; }
    Ticket last() const { return piece_.last; }

   private:
    Staging* staging_;
    Piece piece_;
  };

  uint64_t piece_bytes() const { return piece_bytes_; }
  Loan borrow();                     // waits for a piece
  std::optional<Loan> try_borrow();  // nothing when none is free and idle

 private:
  void make_region();  // when first needed
  std::optional<Piece> pick(bool wait);
  void give_back(Piece piece);

  std::shared_ptr<Core> core_;
  Dispatcher& dispatcher_;
  RegionUse use_;
  uint32_t pieces_;
  uint64_t piece_bytes_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::unique_ptr<OwnRegion> region_;
  std::vector<Piece> free_;  // the one used longest ago first
};

}  // namespace adit::vulkan
