import Foundation
import WebServiceClient

/// Reads the responses of a JSON batch while it arrives (JSON Format 4.01, section 19.2). They come in any order.
final class JSONBatchReader: BatchAnswerReading {
    private let parser: JSONElementParser
    private var isAtEnd = false

    /// - Parameter limit: The maximum number of bytes of a response, and of the text around the responses.
    init(limit: Int) {
        let bounds = JSONStreamBounds(element: limit, surroundings: limit)
        parser = JSONElementParser(JSONReader(), anyOf: [["responses"]], bounds: bounds)
    }

    func feed(_ piece: Data) throws { try piece.withUnsafeBytes { try parser.feed($0) } }

    func finish() { isAtEnd = true }

    func next() throws -> BatchAnswerStep? {
        while true {
            if let node = try parser.nextNode() { return .reply(Self.reply(node)) }
            guard isAtEnd, !parser.isAtEnd else {
                if parser.isAtEnd { try checkEnd() }
                return nil
            }
            try parser.finish()
        }
    }

    /// Throws an error for a payload without the array, which isn't the answer to a batch.
    private func checkEnd() throws {
        let root = try ODataValue(json: parser.knownSurroundings())
        if let error = root.object.flatMap({ ODataErrorBody(in: $0) }) { throw error }
        guard parser.path != nil else { throw ODataBatchError.malformed("the JSON has no array named 'responses'") }
    }

    func nextLink() throws -> String? {
        let root = try ODataValue(json: parser.knownSurroundings())
        return ["@nextLink", "@odata.nextLink", "nextLink"].lazy.compactMap { root[$0]?.string }.first
    }

    private static func reply(_ node: JSONNode) -> BatchReply {
        let id = node.member("id").flatMap { text(of: $0) }
        guard node.isObject, let status = node.member("status").flatMap({ text(of: $0) }).flatMap({ Int($0) }),
            (200...599).contains(status)
        else { return BatchReply(id: id, fault: "it has no status") }
        var headers = HTTPFields()
        node.member("headers")?.forEachMember { name, value in
            guard HTTPFields.Name.isToken(name) else { return }
            func add(_ value: JSONNode) { if let text = text(of: value) { headers.append(HTTPFields.Name(name), text) } }
            // Services that are written in JavaScript send a list if a field comes several times.
            if value.isArray { value.forEachElement { add($0) } } else { add(value) }
        }
        do throws(ODataBatchError) {
            let body = try node.member("body").map { node throws(ODataBatchError) in try bytes(of: node, headers[.contentType]) }
            return BatchReply(id: id, status: status, headers: headers, body: body ?? Data())
        } catch {
            return BatchReply(id: id, fault: "\(error)")
        }
    }

    /// The text of a string or a number.
    private static func text(of node: JSONNode) -> String? {
        switch node.content {
        case .string(let text), .number(let text, _): text
        default: nil
        }
    }

    /// Returns whether a text begins like an object or an array.
    private static func begins(_ text: some Sequence<UInt8>) -> Bool {
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Returns the body of a response. JSON is the value itself, text a string, everything else a string in base64url.
    private static func bytes(of node: JSONNode, _ contentType: String?) throws(ODataBatchError) -> Data {
        let text: String
        switch node.content {
        case .null: return Data()
        case .boolean(let value): return Data("\(value)".utf8)
        case .number(let digits, _): return Data(digits.utf8)
        case .array, .object:
            guard let bytes = node.containerText else { throw .malformed("its body can't be found") }
            return bytes
        case .string(let string): text = string
        }
        guard let type = contentType.flatMap({ MediaType($0) }) else { return Data(text.utf8) }
        if type.subtype == "json" || type.suffix == "json" {
            // A body of OData is an object, but some services write it as a string, also in base64url.
            if begins(text.utf8) { return Data(text.utf8) }
            if let bytes = EdmBinary.bytes(text), begins(bytes) { return bytes }
            return Data(BatchWriter.quoted(text).utf8)
        }
        if type.type == "text" { return Data(text.utf8) }
        if type.subtype == "xml" || type.suffix == "xml" {
            // The format demands base64url, but some services write plain XML.
            let mark = UInt8(ascii: "<")
            if text.utf8.first(where: { $0 > 0x20 }) != mark, let bytes = EdmBinary.bytes(text), bytes.contains(mark) { return bytes }
            return Data(text.utf8)
        }
        guard let bytes = EdmBinary.bytes(text) else { throw .malformed("its body of the type \(type.essence) isn't in base64url") }
        return bytes
    }
}
