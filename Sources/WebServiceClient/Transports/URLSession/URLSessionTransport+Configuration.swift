public import Foundation

extension URLSessionTransport {
    /// What can be set of a ``URLSessionTransport``.
    public struct Configuration: Sendable {
        /// The most connections to one host at a time, at least 1. Default 6.
        public var maximumConnectionsPerHost = 6

        /// The most bytes of one response's body that wait for their reader, at least 64 KiB. Default 64 MiB.
        ///
        /// URLSession can't be slowed down, so a body that arrives faster than it is read piles up. Above this bound the transfer
        /// ends with ``TransportError/Code/readerTooSlow``.
        public var bufferLimit = 64 * 1024 * 1024

        /// Where bodies that URLSession can't send as they are (streams, several files) are written before they are sent. Each such
        /// file is readable by its owner only and is removed when its exchange ends. Default: the system's folder for temporary files.
        public var spoolFolder: URL = FileManager.default.temporaryDirectory

        /// The defaults.
        public init() {}
    }
}
