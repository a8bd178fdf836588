/// A record's place in a store: 1, 2, 3 … in the order of arrival; 0 is before the first.
package typealias RecordPosition = UInt64

/// A record with its place.
package struct StoredRecord: Sendable {
    package let position: RecordPosition
    package let record: LogRecord
}
