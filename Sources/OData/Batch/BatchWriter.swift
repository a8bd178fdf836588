import Foundation
import WebServiceClient

/// One request of a batch, ready to be written.
struct BatchRequest: Sendable, Equatable {
    /// The request's id, from 1 on. Numbers, because words such as `batch` and `root` would be ambiguous after the `$` of a reference.
    var number: Int
    /// The number of its group.
    var group: Int?
    var method: String
    /// The URL in the batch's form, percent-encoded.
    var target: String
    /// The fields that differ from those of the batch.
    var headers = HTTPFields()
    var body: Data?
    /// The numbers of the requests that must succeed first; for requests in other groups, also the numbers of their groups.
    var dependencies: [Int] = []
    var groupDependencies: [Int] = []

    /// The name of a group, which differs from all ids.
    static func name(ofGroup number: Int) -> String { "group\(number)" }
}

/// Writes a batch piece by piece, so that a long one is never in memory as a whole.
struct BatchWriter: Sendable {
    let isJSON: Bool
    private let boundary: String
    private let statesLengths: Bool
    private var isFirst = true
    private var changeSets = 0

    /// - Parameter boundary: The text between multipart parts: letters, digits, `_` and `-`, since few services read a quoted one.
    init(isJSON: Bool, statesLengths: Bool = false, boundary: String = UUID().uuidString.lowercased()) {
        self.isJSON = isJSON
        self.statesLengths = statesLengths
        self.boundary = boundary
    }

    /// The media type of the batch.
    var contentType: String { isJSON ? "application/json" : "multipart/mixed; boundary=batch_\(boundary)" }

    /// Returns the text of a single request or a group.
    ///
    /// - Throws: ``ODataBatchError`` for a body that the format can't contain.
    mutating func unit(_ requests: [BatchRequest]) throws(ODataBatchError) -> Data {
        guard let first = requests.first else { return Data() }
        var text = Data()
        if isJSON {
            for request in requests {
                text.append(contentsOf: (isFirst ? #"{"requests":["# : ",").utf8)
                isFirst = false
                try writeObject(request, to: &text)
            }
            return text
        }
        guard first.group != nil else {
            writePart(first, "batch_\(boundary)", to: &text)
            return text
        }
        changeSets += 1
        let inner = "changeset_\(boundary)_\(changeSets)"
        text.append(contentsOf: "--batch_\(boundary)\r\nContent-Type: multipart/mixed; boundary=\(inner)\r\n\r\n".utf8)
        for request in requests { writePart(request, inner, to: &text) }
        text.append(contentsOf: "--\(inner)--\r\n".utf8)
        return text
    }

    /// Returns the text after the last request.
    func end() -> Data {
        if isJSON { return Data((isFirst ? #"{"requests":[]}"# : "]}").utf8) }
        return Data("--batch_\(boundary)--\r\n".utf8)
    }

    // MARK: Multipart

    /// Writes one part. The order of the fields is that of OpenUI5, without other fields or extra line ends: some services and firewalls
    /// refuse more than that, although the specification allows it.
    private func writePart(_ request: BatchRequest, _ boundary: String, to text: inout Data) {
        var head = "--\(boundary)\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(request.number)"
        head += "\r\n\r\n\(request.method) \(request.target) HTTP/1.1\r\n"
        for field in request.headers { head += "\(field.name): \(field.value)\r\n" }
        if statesLengths, let body = request.body { head += "Content-Length: \(body.count)\r\n" }
        head += "\r\n"
        text.append(contentsOf: head.utf8)
        if let body = request.body { text.append(body) }
        // The line end belongs to the next boundary. A request without a body therefore ends with two empty lines.
        text.append(contentsOf: "\r\n".utf8)
    }

    // MARK: JSON

    private func writeObject(_ request: BatchRequest, to text: inout Data) throws(ODataBatchError) {
        var members = [#""id":"\#(request.number)""#]
        if let group = request.group { members.append(#""atomicityGroup":"\#(BatchRequest.name(ofGroup: group))""#) }
        members.append(#""method":\#(Self.quoted(request.method)),"url":\#(Self.quoted(request.target))"#)
        // A dependency on a request of another group names the group too, because services differ in which of the two they expect.
        let earlier = request.dependencies.map { "\"\($0)\"" } + request.groupDependencies.map { "\"\(BatchRequest.name(ofGroup: $0))\"" }
        if !earlier.isEmpty { members.append(#""dependsOn":[\#(earlier.joined(separator: ","))]"#) }
        var fields = request.headers.map { "\(Self.quoted($0.name.description.lowercased())):\(Self.quoted($0.value))" }
        if request.headers[.contentType] == nil, request.body != nil { fields.append(#""content-type":"application/json""#) }
        if !fields.isEmpty { members.append(#""headers":{\#(fields.joined(separator: ","))}"#) }
        text.append(contentsOf: ("{" + members.joined(separator: ",")).utf8)
        if let body = request.body {
            text.append(contentsOf: #","body":"#.utf8)
            text.append(try Self.value(of: body, contentType: request.headers[.contentType] ?? "application/json"))
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Returns a body as a JSON value: JSON unchanged, text as a string, other bytes as base64url (JSON Format 4.01, section 19.1).
    private static func value(of body: Data, contentType: String) throws(ODataBatchError) -> Data {
        let type = MediaType(contentType)
        if type?.subtype == "json" || type?.suffix == "json" {
            // Any other text would end the value and change the meaning of the text after it.
            guard (try? ODataValue(json: body)) != nil else {
                throw .unwritable("its body isn't JSON, although its type is \(contentType)")
            }
            return body
        }
        if type?.type == "text" || type?.suffix == "xml" || type?.subtype == "xml" {
            guard let text = String(validating: body, as: UTF8.self) else {
                throw .unwritable("its body isn't UTF-8, although its type is \(contentType)")
            }
            return Data(quoted(text).utf8)
        }
        return Data(quoted(LiteralText.base64URL(body)).utf8)
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                result += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
