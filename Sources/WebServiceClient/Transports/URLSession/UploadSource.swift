import Foundation

/// Where URLSession takes the bytes of a request's body from.
enum UploadSource: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A file of the caller's.
    case file(URL, length: Int64)
    /// A file of ours, which goes when the last reference to it goes.
    case spool(UploadSpool)

    /// The number of bytes.
    var length: Int64 {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        case .spool(let spool): spool.length
        }
    }

    /// Makes a body ready for sending: bytes and single files as they are, everything else by way of a file of ours, since URLSession
    /// reads streams on a queue that all its sessions share.
    ///
    /// - Parameter written: called for each piece that was written to such a file.
    /// - Throws: ``RequestBodyError`` when the body can't be read, `CancellationError`, and what a stream throws.
    static func prepare(
        _ body: RequestBody?, folder: URL, written: @Sendable () -> Void = {}
    ) async throws -> UploadSource {
        guard let body else { return .none }
        if let data = body.data { return .data(data) }
        guard let file = body.file else { return .spool(try await UploadSpool.write(body, folder: folder, written: written)) }
        let target = file.resolvingSymlinksInPath()
        let length = try RequestBody.length(of: target)
        guard length == body.length else {
            throw RequestBodyError(message: "The file \(file.lastPathComponent) has changed its length since the body was made of it.")
        }
        return .file(target, length: length)
    }
}
