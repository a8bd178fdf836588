import Foundation

/// tus 1.0.0: core protocol, creation, creation with upload, expiration, checksum.
struct TusUpload: UploadDialect {
    let rules: UploadProtocol

    static let version = "1.0.0"
    /// A file of at most this size is sent with its creation, if the rules allow it.
    static let smallFile: Int64 = 64 << 10
    static let contentType = "application/offset+octet-stream"

    var statuses: StatusSet { [200, 204, 404, 409, 410, 412, 423, 460] }
    var isForeign: Bool { false }

    func create(_ request: inout ServiceRequest, _ source: UploadSource) throws {
        request.headers["Tus-Resumable"] = Self.version
        request.headers["Upload-Length"] = String(source.length)
        if !rules.metadata.isEmpty {
            request.headers["Upload-Metadata"] = rules.metadata.sorted { $0.key < $1.key }
                .map { $0.value.isEmpty ? $0.key : "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }.joined(separator: ",")
        }
        guard rules.sendsSmallFilesAtOnce, (request.body?.length ?? 0) == 0, (1...Self.smallFile).contains(source.length) else { return }
        try send(0..<source.length, &request, source, isCreation: true)
    }

    func location(_ response: TransportResponse, _ body: Data) throws -> String {
        try checkVersion(response)
        guard let location = response.headers.reference(.location) else {
            throw TransferError(
                .invalidAnswer, "The server answered \(response.status) without a Location: it doesn't create tus uploads at this URL.")
        }
        return location
    }

    func created(_ response: TransportResponse, _ source: UploadSource) throws -> UploadState {
        guard let text = response.headers["Upload-Offset"] else { return source.length == 0 ? .finished : .at(0) }
        guard let offset = ContentRange.number(text), offset <= source.length else { throw Self.badOffset(text) }
        return offset == source.length ? .finished : .at(offset)
    }

    func locate(_ request: inout ServiceRequest, _ source: UploadSource) {
        request.method = .head
        request.headers["Tus-Resumable"] = Self.version
        request.headers["Cache-Control"] = "no-store"
    }

    func send(_ piece: Range<Int64>, _ request: inout ServiceRequest, _ source: UploadSource) throws {
        request.method = .patch
        try send(piece, &request, source, isCreation: false)
    }

    private func send(_ piece: Range<Int64>, _ request: inout ServiceRequest, _ source: UploadSource, isCreation: Bool) throws {
        request.headers["Tus-Resumable"] = Self.version
        if !isCreation { request.headers["Upload-Offset"] = String(piece.lowerBound) }
        request.body = try source.body(piece, contentType: Self.contentType)
        request.headers[.contentType] = Self.contentType
        guard let checksum = rules.checksum else { return }
        let digest =
            switch checksum {
            case .sha1: try source.digest(piece, SHA1.self)
            case .md5: try source.digest(piece, MD5.self)
            case .sha256: try source.digest(piece, SHA256.self)
            }
        request.headers["Upload-Checksum"] = "\(checksum.rawValue) \(Data(digest).base64EncodedString())"
    }

    func state(_ response: TransportResponse, _ body: Data, sent piece: Range<Int64>?, _ source: UploadSource) throws -> UploadState {
        switch response.status {
        case 404, 410: return .gone
        // Another request has written in between, or the checksum didn't match: the position must be asked for.
        case 409, 460: return .unknown
        case 423: return .busy
        default: break
        }
        try checkVersion(response)
        let text = response.headers["Upload-Offset"] ?? ""
        guard let offset = ContentRange.number(text), offset <= source.length else { throw Self.badOffset(text) }
        if let piece {
            guard (piece.lowerBound...piece.upperBound).contains(offset) else { throw Self.badOffset(text) }
        } else if let length = response.headers["Upload-Length"], length != String(source.length) {
            // The upload of another file.
            return .gone
        }
        return offset == source.length ? .finished : .at(offset)
    }

    func expiry(_ response: TransportResponse, _ body: Data) -> Date? {
        response.headers["Upload-Expires"].flatMap { HTTPDate.date(from: $0) }
    }

    /// Checks the version of the protocol. A missing version is accepted, because many servers omit it.
    private func checkVersion(_ response: TransportResponse) throws {
        let version = response.headers["Tus-Resumable"]
        guard response.status == 412 || (version ?? Self.version) != Self.version else { return }
        let versions = response.headers["Tus-Version"] ?? version ?? "another version"
        throw TransferError(
            .invalidAnswer, "The server supports tus \(versions), but the library supports \(Self.version): use a server of that version.")
    }

    private static func badOffset(_ text: String) -> TransferError {
        TransferError(
            .invalidAnswer,
            "The server's Upload-Offset is \"\(text.prefix(40))\", which isn't a position of the upload: start the upload again.")
    }
}
