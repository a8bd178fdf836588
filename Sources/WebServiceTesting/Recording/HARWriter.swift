import Foundation
import WebServiceClient

/// Writes recordings as an HTTP Archive (HAR 1.2), with one member per line so that changes can be reviewed.
///
/// HAR 1.2 lacks some properties. Their names begin with an underscore, as the format requires: `_key`, `_pieces` and others. Binary bodies
/// are in Base64. A binary body of a request is in `_base64`, because `postData` of HAR 1.2 can only be text.
enum HARWriter {
    /// The name of the program that writes the files.
    static let creator = "WebServiceTesting"

    /// Returns the text of a file.
    static func text(of exchanges: [RecordedExchange]) -> String {
        let creator: JSONValue = ["name": .string(creator), "version": .string(PackageVersion.text)]
        let log: JSONValue = ["version": "1.2", "creator": creator, "entries": .array(exchanges.map(entry))]
        var text = ""
        write(["log": log], indented: 0, to: &text)
        return text + "\n"
    }

    private static func entry(_ exchange: RecordedExchange) -> JSONValue {
        let (head, end) = (exchange.timeToHead, exchange.timeToEnd)
        // The format requires these three times, so an unknown one is 0; optional unknown times are left out. Both are rounded before their
        // difference is taken, so that the file stays the same when it is read and written again.
        let wait = microseconds(head ?? end ?? .zero)
        let time = max(wait, microseconds(end ?? .zero))
        let timings: JSONValue = ["send": 0, "wait": milliseconds(wait), "receive": milliseconds(time - wait)]
        var entry: JSONValue = [
            "startedDateTime": .string(ISO8601.text(of: exchange.startedAt) ?? "1970-01-01T00:00:00Z"),
            "time": milliseconds(time),
        ]
        if !exchange.key.isEmpty { entry["_key"] = .string(exchange.key) }
        entry["request"] = request(exchange)
        entry["response"] = response(exchange)
        entry["cache"] = [:]
        entry["timings"] = timings
        return entry
    }

    private static func request(_ exchange: RecordedExchange) -> JSONValue {
        let query = RequestTarget(Array(exchange.url.utf8)).query.map { RequestTarget.pairs(of: $0, plusIsBlank: false) } ?? []
        var request: JSONValue = [
            "method": .string(exchange.method), "url": .string(exchange.url),
            "httpVersion": .string(exchange.httpVersion ?? "HTTP/1.1"), "cookies": [], "headers": fields(exchange.requestFields),
            "queryString": .array(query.map { ["name": .string($0.name), "value": .string($0.value ?? "")] }),
        ]
        if !exchange.requestBody.isEmpty {
            var data: JSONValue = ["mimeType": .string(exchange.requestField("Content-Type") ?? "")]
            if let text = text(of: exchange.requestBody) {
                data["text"] = .string(text)
            } else {
                data["text"] = ""
                data["_base64"] = .string(exchange.requestBody.base64EncodedString())
            }
            request["postData"] = data
        }
        if exchange.isRequestBodyOmitted { request["_bodyOmitted"] = true }
        request["headersSize"] = -1
        request["bodySize"] = exchange.isRequestBodyOmitted ? -1 : .number(exchange.requestBody.count)
        return request
    }

    /// The text of a body; `nil` if it isn't UTF-8. Foundation leaves out a byte order mark, which belongs to the body.
    private static func text(of body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8) else { return nil }
        return text.utf8.count == body.count ? text : "\u{FEFF}" + text
    }

    private static func response(_ exchange: RecordedExchange) -> JSONValue {
        var content: JSONValue = [
            "size": .number(exchange.responseBody?.count ?? -1), "mimeType": .string(exchange.responseField("Content-Type") ?? ""),
        ]
        if let body = exchange.responseBody, !body.isEmpty {
            if let text = text(of: body) {
                content["text"] = .string(text)
            } else {
                content["text"] = .string(body.base64EncodedString())
                content["encoding"] = "base64"
            }
        } else if exchange.responseBody == nil {
            content["_missing"] = true
        }
        if !exchange.pieces.isEmpty { content["_pieces"] = .array(exchange.pieces.map { .number($0) }) }
        if exchange.isCut { content["_isCut"] = true }
        var response: JSONValue = [
            "status": .number(exchange.status), "statusText": .string(exchange.status == 0 ? "" : ReasonPhrase.of(exchange.status)),
            "httpVersion": .string(exchange.httpVersion ?? "HTTP/1.1"), "cookies": [], "headers": fields(exchange.responseFields),
            "content": content, "redirectURL": .string(exchange.responseField("Location") ?? ""), "headersSize": -1, "bodySize": -1,
        ]
        if let failure = exchange.failure {
            response["_error"] = .string(failure.message)
            response["_errorCode"] = .string(failure.code.rawValue)
            if failure.isConnectionStale { response["_isConnectionStale"] = true }
            if failure.isUnprocessed { response["_isUnprocessed"] = true }
        }
        return response
    }

    private static func fields(_ fields: [RecordedExchange.Field]) -> JSONValue {
        .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(31_536_000)).components
        return seconds * 1_000_000 + Int64((Double(attoseconds) / 1e12).rounded())
    }

    private static func milliseconds(_ microseconds: Int64) -> JSONValue {
        microseconds.isMultiple(of: 1_000) ? .number(microseconds / 1_000) : .number(Double(microseconds) / 1_000)
    }

    /// Writes a value with an indentation of two spaces per level; objects of scalars stay on one line. The nesting of these files is
    /// fixed, so recursion is safe.
    private static func write(_ value: JSONValue, indented level: Int, to text: inout String) {
        let indentation = String(repeating: "  ", count: level + 1)
        switch value {
        case .array(let elements) where !elements.isEmpty && elements.contains(where: { !isScalar($0) }):
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += indentation
                write(element, indented: level + 1, to: &text)
                text += index == elements.count - 1 ? "\n" : ",\n"
            }
            text += indentation.dropLast(2) + "]"
        case .object(let members) where members.count > 2 || members.contains(where: { !isScalar($0.value) }):
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += indentation + JSONValue.string(member.name).description + ": "
                write(member.value, indented: level + 1, to: &text)
                text += index == members.count - 1 ? "\n" : ",\n"
            }
            text += indentation.dropLast(2) + "}"
        default:
            text += value.description
        }
    }

    private static func isScalar(_ value: JSONValue) -> Bool {
        switch value {
        case .array, .object: false
        default: true
        }
    }
}
