/// How a ``Spool`` is.
public struct SpoolStatistics: Sendable, Hashable {
    /// Where the records are.
    public enum Mode: Sendable, Hashable {
        /// On disk, after a short wait in memory.
        case disk
        /// In memory only, since the disk fails; it is tried again all the time.
        case memory
    }

    /// Where the records are.
    public var mode: Mode
    /// The bytes of the spool's files.
    public var diskBytes: Int
    /// The files that hold records.
    public var segments: Int
    /// The records that wait in memory.
    public var memoryRecords: Int
    /// The bytes that these take, about.
    public var memoryBytes: Int
    /// The directory that this process uses; `nil` until there is one. A second process on the same directory has another one.
    public var directory: String?
    /// The directories of processes that have ended, whose records are shipped, too; the other counts are without them.
    public var leftovers: [String] = []
}
