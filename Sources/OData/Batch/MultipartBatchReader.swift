import Foundation
import WebServiceClient

/// Reads the parts of a multipart batch, of any version, while it arrives: requests as well as responses.
///
/// It accepts common deviations of services: lines that end with LF alone, a byte order mark, a missing line end after the last boundary,
/// ids in the wrong fields, and parts without a type. Text after the last boundary is ignored (RFC 2046 §5.1.1). A batch without its last
/// boundary is an error.
struct MultipartBatchReader {
    /// A part: a message, or a change set with its messages and, if it can't be read to its end, the fault.
    enum Part {
        case message(Result<BatchMessage, ODataBatchError>)
        case changeSet([Result<BatchMessage, ODataBatchError>], fault: String?)
    }

    /// The content of one message, as it arrives.
    private struct Content {
        var id: String?
        var bytes = Data()
        var isTooLarge = false

        mutating func append(_ data: Data, upTo limit: Int) {
            guard !isTooLarge, data.count <= limit - bytes.count else {
                isTooLarge = true
                bytes = Data()
                return
            }
            bytes.append(data)
        }

        func message(_ limit: Int) -> Result<BatchMessage, ODataBatchError> {
            if isTooLarge { return .failure(.malformed("it is larger than the limit of \(limit) bytes: raise the client's bodyLimit")) }
            return Result { () throws(ODataBatchError) in try BatchMessage(bytes, id: id) }
        }
    }

    /// A change set, as it arrives.
    private struct ChangeSet {
        var parser: PartParser
        var content: Content?
        var messages: [Result<BatchMessage, ODataBatchError>] = []
        var size = 0
        var fault: String?
    }

    private enum Current {
        case none
        case message(Content)
        case changeSet(ChangeSet)
    }

    /// The maximum number of bytes of a part's fields.
    private static let fieldLimit = 1 << 16
    /// The number of bytes that a message of a change set counts in addition to its content, because an empty message takes memory too.
    private static let messageSize = 128

    private var parser: PartParser
    private let limit: Int
    private var current = Current.none
    /// The first bytes of the batch, until it is known whether they are a byte order mark.
    private var lead: Data? = Data()

    /// - Parameters:
    ///   - boundary: The boundary that the batch's type names.
    ///   - limit: The maximum number of bytes of a message, and of all messages of a change set with their fields.
    init(boundary: String, limit: Int) {
        parser = PartParser(boundary: boundary, fieldLimit: Self.fieldLimit)
        self.limit = max(0, limit)
    }

    mutating func feed(_ piece: Data) {
        guard var lead else { return piece.withUnsafeBytes { parser.feed($0) } }
        // A byte order mark would hide the first boundary.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        lead.append(piece)
        guard lead.count >= mark.count || !mark.starts(with: lead) else {
            self.lead = lead
            return
        }
        self.lead = nil
        lead.dropFirst(lead.starts(with: mark) ? mark.count : 0).withUnsafeBytes { parser.feed($0) }
    }

    mutating func finish() {
        lead?.withUnsafeBytes { parser.feed($0) }
        lead = nil
        parser.finish()
    }

    /// Returns the next part; `nil` if more input is needed, or at the end.
    ///
    /// - Throws: `StreamError` for a batch without its last boundary, or with fields above the bound.
    mutating func nextPart() throws -> Part? {
        while let piece = try parser.next() {
            switch piece {
            case .begin(let fields): begin(fields)
            case .data(let data): append(data)
            case .end: return end()
            }
        }
        return nil
    }

    private mutating func begin(_ fields: HTTPFields) {
        let type = fields[.contentType].flatMap { MediaType($0) }
        guard type?.type == "multipart" else {
            current = .message(Content(id: fields["Content-ID"]))
            return
        }
        do {
            let boundary = try type?.multipartBoundary() ?? ""
            current = .changeSet(ChangeSet(parser: PartParser(boundary: boundary, fieldLimit: Self.fieldLimit)))
        } catch {
            var set = ChangeSet(parser: PartParser(boundary: "-", fieldLimit: 0))
            set.fault = "\(error)"
            current = .changeSet(set)
        }
    }

    private mutating func append(_ data: Data) {
        switch current {
        case .none: break
        case .message(var content):
            current = .none
            content.append(data, upTo: limit)
            current = .message(content)
        case .changeSet(var set):
            current = .none
            if set.fault == nil {
                data.withUnsafeBytes { set.parser.feed($0) }
                read(&set)
            }
            current = .changeSet(set)
        }
    }

    private func read(_ set: inout ChangeSet) {
        do {
            while let piece = try set.parser.next() {
                switch piece {
                case .begin(let fields):
                    set.content = Content(id: fields["Content-ID"])
                    let type = fields[.contentType].flatMap { MediaType($0) }
                    if type?.type == "multipart" { throw ODataBatchError.malformed("a change set contains another one") }
                    let size = fields.reduce(0) { $0 + $1.name.description.utf8.count + $1.value.utf8.count }
                    try grow(&set, by: size + Self.messageSize)
                case .data(let data):
                    try grow(&set, by: data.count)
                    set.content?.append(data, upTo: limit)
                case .end:
                    if let content = set.content { set.messages.append(content.message(limit)) }
                    set.content = nil
                }
            }
        } catch {
            set.fault = "\(error)"
        }
    }

    private func grow(_ set: inout ChangeSet, by size: Int) throws {
        set.size += size
        guard set.size <= limit else {
            throw ODataBatchError.malformed("the change set is larger than the limit of \(limit) bytes: raise the client's bodyLimit")
        }
    }

    private mutating func end() -> Part? {
        defer { current = .none }
        switch current {
        case .none: return nil
        case .message(let content): return .message(content.message(limit))
        case .changeSet(var set):
            if set.fault == nil {
                set.parser.finish()
                read(&set)
            }
            return .changeSet(set.messages, fault: set.fault)
        }
    }
}

extension MultipartBatchReader: BatchAnswerReading {
    mutating func next() throws -> BatchAnswerStep? {
        switch try nextPart() {
        case .message(let message)?: .reply(Self.reply(message))
        case .changeSet(let messages, let fault)?: .group(messages.map { Self.reply($0) }, fault: fault)
        case nil: nil
        }
    }

    func nextLink() -> String? { nil }

    private static func reply(_ message: Result<BatchMessage, ODataBatchError>) -> BatchReply {
        do throws(ODataBatchError) {
            let message = try message.get()
            do throws(ODataBatchError) {
                return BatchReply(id: message.id, status: try message.status(), headers: message.headers, body: message.body)
            } catch {
                return BatchReply(id: message.id, fault: Self.reason(error))
            }
        } catch {
            return BatchReply(id: nil, fault: Self.reason(error))
        }
    }

    private static func reason(_ error: ODataBatchError) -> String {
        if case .malformed(let reason) = error { reason } else { error.description }
    }
}
