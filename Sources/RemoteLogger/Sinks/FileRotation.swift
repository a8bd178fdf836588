/// When a ``FileSink`` begins a new file, and how many it keeps.
public struct FileRotation: Sendable, Hashable {
    /// The most bytes of a file. A line that is longer stands in a file of its own. Default 16 MiB.
    public var bytes: Int
    /// The length of the periods, counted from 1970-01-01T00:00:00Z, of which each has files of its own; `nil` for none. Default none.
    public var period: Duration?
    /// How many files are kept beside the one that is written to. Default 5.
    public var files: Int

    /// The given bounds; less than 1 byte counts as 1, less than 0 files as 0, a period below a second as a second.
    public init(bytes: Int = 16 << 20, period: Duration? = nil, files: Int = 5) {
        self.bytes = max(1, bytes)
        self.period = period.map { max(.seconds(1), $0) }
        self.files = min(10_000, max(0, files))
    }

    /// A file for each hour.
    public static func hourly(files: Int = 24) -> FileRotation { FileRotation(bytes: .max, period: .seconds(3_600), files: files) }
    /// A file for each day, in UTC.
    public static func daily(files: Int = 7) -> FileRotation { FileRotation(bytes: .max, period: .seconds(86_400), files: files) }
}
