import Foundation

/// The sessions of Google and OneDrive, whose pieces have `Content-Range`.
struct ContentRangeUpload: UploadDialect {
    let kind: UploadProtocol.Kind

    private var isGoogle: Bool { kind == .google }

    var statuses: StatusSet { [200, 201, 202, 308, 404, 410, 416] }
    /// OneDrive responds with 401 if a piece has credentials.
    var isForeign: Bool { !isGoogle }

    /// A response of OneDrive.
    private struct Status: Decodable {
        var uploadUrl: String?
        var expirationDateTime: String?
        var nextExpectedRanges: [String]?
    }

    func create(_ request: inout ServiceRequest, _ source: UploadSource) {
        if isGoogle { request.headers["X-Upload-Content-Length"] = String(source.length) }
    }

    func location(_ response: TransportResponse, _ body: Data) throws -> String {
        let location = isGoogle ? response.headers.reference(.location) : status(body)?.uploadUrl
        guard let location else {
            let field = isGoogle ? "a Location" : "an uploadUrl in its body"
            throw TransferError(
                .invalidAnswer, "The server answered \(response.status) without \(field): the call doesn't create an upload session.")
        }
        return location
    }

    func created(_ response: TransportResponse, _ source: UploadSource) -> UploadState { .at(0) }

    func locate(_ request: inout ServiceRequest, _ source: UploadSource) {
        guard isGoogle else {
            request.method = .get
            return
        }
        request.method = .put
        request.headers["Content-Range"] = "bytes */\(source.length)"
        request.body = RequestBody(Data())
    }

    func send(_ piece: Range<Int64>, _ request: inout ServiceRequest, _ source: UploadSource) throws {
        request.method = .put
        request.headers["Content-Range"] = Self.field(piece, of: source.length)
        request.body = try source.body(piece, contentType: nil)
    }

    func state(_ response: TransportResponse, _ body: Data, sent piece: Range<Int64>?, _ source: UploadSource) throws -> UploadState {
        switch response.status {
        case 404, 410: return .gone
        // The server already has the bytes, or is at another position.
        case 416: return .unknown
        case 308 where isGoogle:
            guard let position = Self.received(response.headers[.range]), position <= source.length else {
                throw invalid("a Range that isn't one of the upload")
            }
            return position == source.length ? .unknown : .at(position)
        case 202 where !isGoogle: return try expected(body, source)
        case 200 where !isGoogle && (piece == nil || status(body)?.nextExpectedRanges != nil): return try expected(body, source)
        case 200, 201:
            guard piece == nil || piece?.upperBound == source.length else { throw invalid("an end before the last piece") }
            return .finished
        default: throw invalid("the status \(response.status)")
        }
    }

    /// The `Content-Range` of a piece.
    static func field(_ piece: Range<Int64>, of total: Int64) -> String {
        ContentRange(piece.isEmpty ? nil : ClosedRange(piece), of: total).text
    }

    /// The number of bytes that the server of an upload session has, from the `Range` of its 308 response: `bytes=0-42` means 43. Returns 0
    /// without the field, and `nil` for another form.
    static func received(_ field: String?) -> Int64? {
        guard let field else { return 0 }
        let text = field.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard text.lowercased().hasPrefix("bytes="), let range = ContentRange.range(text.dropFirst(6)), range.lowerBound == 0 else {
            return nil
        }
        return range.upperBound + 1
    }

    /// The position in `nextExpectedRanges`.
    private func expected(_ body: Data, _ source: UploadSource) throws -> UploadState {
        guard let ranges = status(body)?.nextExpectedRanges else { throw invalid("no nextExpectedRanges") }
        guard !ranges.isEmpty else { return .unknown }
        // Outlook sends a position instead of a range. The ranges may come in any order.
        let positions = ranges.compactMap { range in ContentRange.number(range.prefix { $0 != "-" }) }
        guard positions.count == ranges.count, let position = positions.min(), position < source.length else {
            throw invalid("nextExpectedRanges that aren't of the upload")
        }
        return .at(position)
    }

    func expiry(_ response: TransportResponse, _ body: Data) -> Date? {
        guard !isGoogle, let text = status(body)?.expirationDateTime else { return nil }
        return ISO8601.date(from: text)
    }

    private func status(_ body: Data) -> Status? { try? JSONDecoder().decode(Status.self, from: body) }

    private func invalid(_ what: String) -> TransferError {
        TransferError(.invalidAnswer, "The upload session's server sent \(what): the upload can't continue.")
    }
}
