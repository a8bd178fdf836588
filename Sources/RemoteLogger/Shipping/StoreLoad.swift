/// What a store holds.
package struct StoreLoad: Sendable {
    /// All records, those that were read and aren't acknowledged yet included.
    package var records = 0
    /// How many of them are safe on disk; counted only where ``RecordStore/census`` is asked.
    package var spooled = 0
    /// The bytes of all records.
    package var bytes = 0
    /// The records that were not read yet.
    package var unread = 0
    /// The bytes of these.
    package var unreadBytes = 0
    /// The place of the last record that the store ever had, found ones included.
    package var last: RecordPosition = 0
    /// The place of the oldest record that is held.
    package var first: RecordPosition?
    /// When that record came, or an older one, on the monotonic clock in nanoseconds.
    package var firstSince: UInt64 = 0
    /// The place of the oldest record that was not read yet.
    package var firstUnread: RecordPosition?
    /// When that record came, on the monotonic clock in nanoseconds.
    package var firstUnreadSince: UInt64 = 0
    /// How many records the store has, or had, that weren't appended here: left by an earlier run, or taken for another destination.
    package var found = 0
}
