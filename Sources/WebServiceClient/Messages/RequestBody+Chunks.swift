public import Foundation

extension RequestBody {
    /// The bytes of the body from its beginning, piece by piece.
    ///
    /// - Parameter size: the most bytes of a piece read from a file; pieces in memory and of a stream come as they are.
    /// - Returns: a sequence for one reader. It throws ``RequestBodyError`` when a file can't be read or has changed its length, and
    ///   whatever the stream throws.
    public func chunks(of size: Int = 64 * 1024) -> AsyncThrowingStream<Data, any Error> {
        switch source {
        case .stream(let open):
            return open()
        case .segments(let segments):
            let reader = Locked(SegmentReader(segments: segments, size: max(1, size)))
            return AsyncThrowingStream { try reader.withLock { try $0.next() } }
        }
    }

    /// All bytes of the body in memory.
    ///
    /// - Throws: ``RequestBodyError`` when there are more than `limit` bytes, or a file can't be read.
    public func collect(upTo limit: Int) async throws -> Data {
        if let data {
            guard data.count <= limit else { throw Self.tooLarge(limit) }
            return data
        }
        var whole = Data()
        for try await chunk in chunks() {
            guard chunk.count <= limit - whole.count else { throw Self.tooLarge(limit) }
            whole.append(chunk)
        }
        return whole
    }

    private static func tooLarge(_ limit: Int) -> RequestBodyError {
        RequestBodyError(message: "The request body is larger than \(limit) bytes, the most that may be held in memory here.")
    }
}

/// Reads segments one after the other; holds one file open at a time.
private struct SegmentReader: @unchecked Sendable {
    // @unchecked: the file handle is used only while the owner's lock is held.
    private var segments: ArraySlice<RequestBody.Segment>
    private let size: Int
    private var handle: FileHandle?
    private var remaining: Int64 = 0

    init(segments: [RequestBody.Segment], size: Int) {
        self.segments = segments[...]
        self.size = size
    }

    mutating func next() throws -> Data? {
        while let segment = segments.first {
            switch segment {
            case .data(let data):
                segments.removeFirst()
                if !data.isEmpty { return data }
            case .file(let url, let length):
                if let piece = try read(url, length: length) { return piece }
                segments.removeFirst()
            }
        }
        return nil
    }

    private mutating func read(_ url: URL, length: Int64) throws -> Data? {
        if handle == nil {
            handle = try RequestBody.open(url)
            remaining = length
        }
        guard remaining > 0, let open = handle else {
            try handle?.close()
            handle = nil
            return nil
        }
        let piece = try open.read(upToCount: Int(min(Int64(size), remaining))) ?? Data()
        guard !piece.isEmpty else {
            throw RequestBodyError(message: "The file \(url.lastPathComponent) has become shorter while it was being sent.")
        }
        remaining -= Int64(piece.count)
        return piece
    }
}
