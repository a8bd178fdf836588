public import Foundation

/// The body of a request: bytes, files, a mixture of both, or a stream.
public struct RequestBody: Sendable {
    /// A piece of a body that can be read repeatedly.
    public enum Segment: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A whole file. Its length is that at the time the body was made.
        case file(URL, length: Int64)
    }

    /// The source of a body's bytes.
    public enum Source: Sendable {
        /// Consecutive pieces.
        case segments([Segment])
        /// A stream that is opened each time the body is sent.
        case stream(@Sendable () -> AsyncThrowingStream<Data, any Error>)
    }

    /// The source of the bytes.
    public let source: Source
    /// The number of bytes; `nil` if it isn't known in advance.
    public let length: Int64?
    /// Whether the body can be sent again after a redirect, a challenge or a failure.
    public let isReplayable: Bool
    /// The media type of the body, such as `application/json`.
    public var contentType: String?
    /// Whether ``contentType`` overrides the caller's header, as required for the boundary of a multipart body.
    public var contentTypeIsBinding = false
    /// Whether the body is JSON with an unspecified member order.
    package var hasUnorderedKeys = false

    /// Creates a body from bytes in memory.
    public init(_ data: Data, contentType: String? = nil) {
        source = .segments([.data(data)])
        length = Int64(data.count)
        isReplayable = true
        self.contentType = contentType
    }

    /// Creates a body from consecutive pieces.
    public init(segments: [Segment], contentType: String? = nil) {
        source = .segments(segments)
        length = segments.reduce(0 as Int64?) { total, segment in
            let more =
                switch segment {
                case .data(let data): Int64(data.count)
                case .file(_, let length): max(0, length)
                }
            // The lengths come from the caller. A sum that overflows 64 bits is unknown.
            let (sum, overflows) = (total ?? 0).addingReportingOverflow(more)
            return total == nil || overflows ? nil : sum
        }
        isReplayable = true
        self.contentType = contentType
    }

    /// Creates a body with the content of a file.
    ///
    /// - Throws: ``RequestBodyError`` if the file doesn't exist, isn't readable, or is a folder.
    public init(file: URL, contentType: String? = nil) throws {
        self.init(segments: [.file(file, length: try Self.length(of: file))], contentType: contentType)
    }

    /// Creates a body that is generated while it is sent.
    ///
    /// An error from the stream ends a call with a ``ServiceError`` of kind ``ServiceError/Kind/encoding``, whose cause is that error.
    /// Interceptors receive a ``RequestBodyError`` with the error as its underlying error. ``Transport/send(_:)`` throws the error
    /// unchanged.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if known. The stream must end after that many bytes; its last bytes may be held back until it ends.
    ///     A negative length is an error when the body is sent.
    ///   - isReplayable: Whether `open` returns the same bytes each time. Otherwise the body can be sent only once.
    ///   - open: Creates the stream; called each time the body is sent.
    public init(
        length: Int64? = nil, isReplayable: Bool = false, contentType: String? = nil,
        open: @escaping @Sendable () -> AsyncThrowingStream<Data, any Error>
    ) {
        source = .stream(open)
        self.length = length
        self.isReplayable = isReplayable
        self.contentType = contentType
    }

    /// Creates a body from the elements of an asynchronous sequence. It can be sent once.
    ///
    /// - Parameter length: The number of bytes, if known, as in ``init(length:isReplayable:contentType:open:)``.
    public init<Chunks: AsyncSequence & Sendable>(chunks: Chunks, length: Int64? = nil, contentType: String? = nil)
    where Chunks.Element == Data {
        self.init(length: length, contentType: contentType) {
            let reader = PieceReader(chunks)
            return AsyncThrowingStream { try await reader.next() }
        }
    }

    /// The bytes, if all of them are in memory.
    public var data: Data? {
        guard case .segments(let segments) = source else { return nil }
        if segments.count == 1, case .data(let data) = segments[0] { return data }
        var whole = Data()
        for segment in segments {
            guard case .data(let data) = segment else { return nil }
            whole.append(data)
        }
        return whole
    }

    /// The file, if the body consists of a single file.
    public var file: URL? {
        guard case .segments(let segments) = source, segments.count == 1, case .file(let url, _) = segments[0] else { return nil }
        return url
    }

    package static func length(of file: URL) throws -> Int64 {
        let attributes: [FileAttributeKey: Any]
        do {
            // Links are resolved first, because the attributes would be those of the link.
            let target = file.resolvingSymlinksInPath()
            attributes = try FileManager.default.attributesOfItem(atPath: target.path(percentEncoded: false))
        } catch {
            if let shortage = DescriptorShortage.sentenceNow() { throw Self.unopened(file, shortage) }
            throw RequestBodyError(
                message: "The file \(file.lastPathComponent) can't be read as a body: check that it exists and is readable.")
        }
        let kind = attributes[.type] as? FileAttributeType
        guard kind != .typeDirectory else {
            throw RequestBodyError(message: "\(file.lastPathComponent) is a folder, not a file: archive it first, or name a file in it.")
        }
        // The length of a pipe or a device is meaningless: it would be sent as an empty body.
        guard kind == .typeRegular, let size = attributes[.size] as? NSNumber else {
            throw RequestBodyError(message: "\(file.lastPathComponent) is a pipe or a device, not a file: send it as a stream.")
        }
        return size.int64Value
    }

    /// Opens a file that existed when its body was made.
    ///
    /// - Throws: ``RequestBodyError`` with the system's reason.
    package static func open(_ file: URL) throws(RequestBodyError) -> FileHandle {
        let descriptor = openForReading(file.path(percentEncoded: false))
        guard descriptor < 0 else { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
        let code = errno
        if let shortage = DescriptorShortage.sentence(for: code) { throw unopened(file, shortage) }
        let reason = String(cString: strerror(code)).lowercased()
        throw RequestBodyError(
            message: "The file \(file.lastPathComponent) can't be read as a body any more (\(reason)): create the body from another file.")
    }

    private static func unopened(_ file: URL, _ shortage: String) -> RequestBodyError {
        RequestBodyError(message: "The file \(file.lastPathComponent) can't be opened for a body now. \(shortage)")
    }
}

private func openForReading(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible {
    /// The length and media type, never the content, which may hold secrets.
    public var description: String {
        let size = length.map { "\($0) bytes" } ?? "unknown length"
        return "body of \(size)" + (contentType.map { ", \($0)" } ?? "")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

/// An error that explains why a body can't be made or sent.
public struct RequestBodyError: DescribedError, Sendable {
    /// The fault and its fix.
    public let message: String
    /// The error of the body's stream, if that is the cause. It is set only within a client's call.
    public let underlying: (any Error)?

    /// Creates an error with a message.
    public init(message: String, underlying: (any Error)? = nil) {
        self.message = VisibleText.of(message, keepsLineEnds: true)
        self.underlying = underlying
    }

    /// The message.
    public var description: String { message }
}

extension RequestBody {
    /// Returns the bytes of the body from its beginning, in pieces.
    ///
    /// - Parameter size: The maximum number of bytes per piece of a file. Pieces in memory and pieces of a stream aren't split.
    /// - Returns: A sequence for one reader. It throws ``RequestBodyError`` if a file can't be read or its length has changed, and rethrows
    ///   errors of the stream.
    public func chunks(of size: Int = 64 * 1024) -> AsyncThrowingStream<Data, any Error> {
        switch source {
        case .stream(let open):
            return open()
        case .segments(let segments):
            let reader = Locked(SegmentReader(segments: segments, size: max(1, size)))
            return AsyncThrowingStream { try reader.withLock { try $0.next() } }
        }
    }

    /// Reads the whole body into memory.
    ///
    /// - Throws: ``RequestBodyError`` if there are more than `limit` bytes, or a file can't be read.
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
        RequestBodyError(message: "The request body is larger than \(limit) bytes, the memory limit for this use: send a smaller one.")
    }
}

/// Reads segments in order, with one open file at a time.
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
            throw RequestBodyError(
                message: "The file \(url.lastPathComponent) has become shorter while it was being sent: send it when no program changes it."
            )
        }
        remaining -= Int64(piece.count)
        return piece
    }
}

/// Reads a body's pieces for a closure that any task may call.
///
/// `@unchecked Sendable`: only one task at a time uses the iterator, because a body has one reader, which waits for each piece.
package final class PieceReader<Pieces: AsyncSequence>: @unchecked Sendable where Pieces.Element == Data {
    private var iterator: Pieces.AsyncIterator

    package init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    /// The next piece, `nil` at the end.
    package func next() async throws -> Data? {
        try await iterator.next()
    }
}
