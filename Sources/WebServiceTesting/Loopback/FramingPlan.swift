import Foundation

/// The length and connection fields of a response, and the framing of its body (RFC 9112, section 6).
struct FramingPlan {
    private(set) var fields: LoopbackFields
    private(set) var isChunked = false
    private(set) var hasBody: Bool
    private(set) var keepsConnection: Bool

    /// - Throws: An error if a file's size can't be read.
    init(response: LoopbackResponse, request: LoopbackRequest?, keepingConnection: Bool) throws {
        fields = response.fields
        keepsConnection = keepingConnection && !response.closesConnection && response.fault == nil
        let isBodyless = response.status < 200 || response.status == 204 || response.status == 304
        hasBody = !isBodyless && request?.method != "HEAD"
        if fields["Content-Length"] != nil || fields["Transfer-Encoding"] != nil {
            isChunked = fields.list("Transfer-Encoding", contains: "chunked")
        } else {
            try frame(response, isHTTP10: request?.isHTTP10 ?? false, isBodyless: isBodyless)
        }
        if fields.list("Connection", contains: "close") { keepsConnection = false }
        // A client that waits for bytes that never come must at least see the connection end.
        if hasBody, !isChunked, let length = try Self.length(of: response.body), fields["Content-Length"] != String(length) {
            keepsConnection = false
        }
        if fields["Connection"] == nil {
            if !keepsConnection, response.fault == nil {
                fields.append("Connection", "close")
            } else if keepsConnection, request?.isHTTP10 ?? false {
                fields.append("Connection", "keep-alive")
            }
        }
    }

    private mutating func frame(_ response: LoopbackResponse, isHTTP10: Bool, isBodyless: Bool) throws {
        switch response.framing {
        case .contentLength(let length): fields.append("Content-Length", String(length))
        case .untilClose: keepsConnection = false
        case .chunked: sendInChunks()
        case .chunkedWithContentLength(let length):
            fields.append("Content-Length", String(length))
            sendInChunks()
        case .automatic:
            if isBodyless { break }
            if response.trailers.isEmpty, let length = try Self.length(of: response.body) {
                fields.append("Content-Length", String(length))
            } else if isHTTP10 {
                keepsConnection = false
            } else {
                sendInChunks()
            }
        }
    }

    private mutating func sendInChunks() {
        isChunked = true
        fields.append("Transfer-Encoding", "chunked")
    }

    private static func length(of body: LoopbackResponse.Body) throws -> Int? {
        switch body {
        case .empty, .raw, .hang, .script: 0
        case .data(let data): data.count
        case .file(let url): try url.resourceValues(forKeys: [.fileSizeKey]).fileSize
        case .generated(let count): count
        case .pieces, .drip: nil
        }
    }
}

extension LoopbackFault {
    /// The byte count that triggers the fault.
    var byteCount: Int? {
        switch self {
        case .drop: 0
        case .cut(let count), .reset(let count): max(0, count)
        case .halfClose: nil
        }
    }
}
