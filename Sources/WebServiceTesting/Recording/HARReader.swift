import Foundation
import WebServiceClient

/// Reads recordings from HTTP Archives (HAR 1.2) of ``HARWriter``, Firefox, Chrome and similar programs.
///
/// Only the method and the URL of a request and the status of a response are required. Unknown members are ignored, and so are entries that
/// aren't HTTP, such as `data:` URLs, extensions of the browser and WebSockets. Bodies are in the form that the engine returned: without
/// their content coding, although the fields still name it. The transports of this package do the same.
struct HARReader {
    /// The maximum number of bytes of a file.
    static let sizeLimit = 256 << 20

    /// The file's name, for messages.
    let file: String

    /// Returns the recordings in the file's order.
    ///
    /// - Throws: ``TestingFailure`` that names the file and the place of the fault.
    func exchanges(in data: Data) throws(TestingFailure) -> [RecordedExchange] {
        let root = try json(in: data)
        guard let log = root["log"], log.object != nil else {
            throw fault("log", "is missing", "it must be an object of HAR 1.2 with \"entries\"")
        }
        if let version = log["version"]?.string, !version.hasPrefix("1."), !version.isEmpty {
            throw fault("log.version", "is “\(version.prefix(20))”", "this library reads HAR 1.2")
        }
        guard let entries = log["entries"]?.array else { throw fault("log.entries", "is missing", "it must be an array") }
        let isOwn = log["creator"]?["name"]?.string == HARWriter.creator
        var exchanges: [RecordedExchange] = []
        exchanges.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            var exchange = try exchange(entry, "log.entries[\(index)]")
            guard isHTTP(exchange.url) else { continue }
            if !isOwn, entry["response"]?["content"]?["encoding"]?.string == nil { describeAsUTF8(&exchange) }
            exchanges.append(exchange)
        }
        return exchanges
    }

    private func json(in data: Data) throws(TestingFailure) -> JSONValue {
        guard data.count <= Self.sizeLimit else {
            throw TestingFailure("\(file) has \(data.count) bytes, more than the limit of \(Self.sizeLimit): remove entries from it")
        }
        do {
            return try JSONReader().decode(JSONValue.self, from: data)
        } catch let error as DecodingError {
            if case .dataCorrupted(let context) = error, let syntax = context.underlyingError as? JSONSyntaxError {
                throw TestingFailure("\(file) isn't JSON: \(syntax)")
            }
            throw TestingFailure("\(file) can't be read: \(error)")
        } catch {
            throw TestingFailure("\(file) can't be read: \(error)")
        }
    }

    private func fault(_ place: String, _ problem: String, _ fix: String) -> TestingFailure {
        TestingFailure("\(file): \(place) \(problem); \(fix)")
    }

    /// Whether a URL is one of HTTP, or has no scheme. Others have paths that a call of the client could have.
    private func isHTTP(_ url: String) -> Bool {
        guard let colon = url.firstIndex(of: ":"), !url[..<colon].contains("/") else { return true }
        return ["http", "https"].contains(url[..<colon].lowercased())
    }

    // MARK: Entries

    private func exchange(_ entry: JSONValue, _ place: String) throws(TestingFailure) -> RecordedExchange {
        guard let request = entry["request"], request.object != nil else {
            throw fault(place + ".request", "is missing", "it must be an object")
        }
        guard let response = entry["response"], response.object != nil else {
            throw fault(place + ".response", "is missing", "it must be an object")
        }
        guard let method = request["method"]?.string, !method.isEmpty else {
            throw fault(place + ".request.method", "is missing", "it must be a text such as \"GET\"")
        }
        guard let url = request["url"]?.string, !url.isEmpty else {
            throw fault(place + ".request.url", "is missing", "it must be an absolute URL")
        }
        // Chrome writes the status 0 for a request without a response, others write -1 or null.
        let stated = response["status"]?.isNull == true ? -1 : response["status"]?.int
        guard let status = stated.map({ max($0, 0) }), status == 0 || (100...999).contains(status) else {
            throw fault(place + ".response.status", "isn't a status", "it must be a number from 100 to 999, or 0 without a response")
        }
        var exchange = RecordedExchange(
            key: entry["_key"]?.string ?? "", method: method, url: url, status: status,
            startedAt: entry["startedDateTime"]?.string.flatMap(ISO8601.date(from:)) ?? .distantPast)
        exchange.requestFields = try fields(request["headers"], place + ".request.headers")
        exchange.responseFields = try fields(response["headers"], place + ".response.headers")
        exchange.httpVersion = response["httpVersion"]?.string
        try readRequestBody(request, place + ".request", to: &exchange)
        try readContent(response["content"] ?? [:], place + ".response.content", to: &exchange)
        readTimes(entry, to: &exchange)
        exchange.failure = failure(response, status: status)
        return exchange
    }

    private func fields(_ list: JSONValue?, _ place: String) throws(TestingFailure) -> [RecordedExchange.Field] {
        guard let list, !list.isNull else { return [] }
        guard let elements = list.array else { throw fault(place, "isn't an array", "it must list the fields") }
        var fields: [RecordedExchange.Field] = []
        for (index, element) in elements.enumerated() {
            guard let name = element["name"]?.string, let value = value(element["value"]) else {
                throw fault(
                    "\(place)[\(index)]", "has no name, or its value is a list or an object",
                    "the name must be a text, and the value a text, a number, a Boolean or null")
            }
            // Chrome lists HTTP/2's pseudo-fields, and joins the values of several fields by a line feed.
            guard !name.hasPrefix(":"), !name.isEmpty else { continue }
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                fields.append(RecordedExchange.Field(name: name, value: String(line)))
            }
        }
        return fields
    }

    /// The value of a field: programs that make archives by hand write numbers, and null for an empty value.
    private func value(_ value: JSONValue?) -> String? {
        switch value {
        case nil, .null?: ""
        case .string(let text)?: text
        case .number(let number)?: "\(number)"
        case .boolean(let flag)?: "\(flag)"
        case .array?, .object?: nil
        }
    }

    private func readRequestBody(_ request: JSONValue, _ place: String, to exchange: inout RecordedExchange) throws(TestingFailure) {
        exchange.isRequestBodyOmitted = request["_bodyOmitted"]?.bool ?? false
        guard let data = request["postData"], !data.isNull else { return }
        let type = data["mimeType"]?.string ?? ""
        if !type.isEmpty, !HTTPFields.Field.hasControls(type), exchange.requestField("Content-Type") == nil {
            exchange.requestFields.append(RecordedExchange.Field(name: "Content-Type", value: type))
        }
        if let base64 = data["_base64"]?.string {
            exchange.requestBody = try decoded(base64, place + ".postData._base64")
        } else if let text = data["text"]?.string, !text.isEmpty {
            // The encoding is a proposal for HAR 1.3.
            exchange.requestBody =
                data["encoding"]?.string == "base64" ? try decoded(text, place + ".postData.text") : Data(text.utf8)
        } else if let parameters = data["params"]?.array, !parameters.isEmpty {
            guard type.isEmpty || type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
                // The parts of a multipart form, without their boundaries and without the content of files.
                exchange.isRequestBodyOmitted = true
                return
            }
            let pairs = parameters.map { (name: $0["name"]?.string ?? "", value: $0["value"]?.string) }
            exchange.requestBody = Data(URLEncoding.form(pairs).utf8)
        }
    }

    private func readContent(_ content: JSONValue, _ place: String, to exchange: inout RecordedExchange) throws(TestingFailure) {
        let text = content["text"]?.string
        let type = content["mimeType"]?.string ?? ""
        let isUseful = !type.isEmpty && !HTTPFields.Field.hasControls(type) && text?.isEmpty == false
        if isUseful, exchange.status != 0, exchange.responseField("Content-Type") == nil {
            exchange.responseFields.append(RecordedExchange.Field(name: "Content-Type", value: type))
        }
        exchange.isCut = content["_isCut"]?.bool ?? false
        if let text, content["encoding"]?.string?.lowercased() == "base64" {
            exchange.responseBody = try decoded(text, place + ".text")
        } else if let text {
            exchange.responseBody = Data(text.utf8)
        } else if content["_missing"]?.bool == true || (content["size"]?.int ?? 0) > 0 {
            // Browsers discard large bodies, bodies of redirects, and those of pages that were closed.
            exchange.responseBody = nil
        }
        if let pieces = content["_pieces"]?.array {
            let lengths = pieces.compactMap(\.int)
            var total = 0
            let fits =
                lengths.count == pieces.count
                && lengths.allSatisfy { length in
                    let (sum, overflows) = total.addingReportingOverflow(length)
                    total = sum
                    return length >= 0 && !overflows
                }
            guard fits, total == exchange.responseBody?.count ?? 0 else {
                throw fault(place + "._pieces", "doesn't add up to the length of the body", "remove it after changing the text")
            }
            exchange.pieces = lengths
        }
    }

    /// Replaces the charset in the type by UTF-8, because the file of a browser has the text of a body, not its bytes.
    private func describeAsUTF8(_ exchange: inout RecordedExchange) {
        guard exchange.responseBody.map({ String(data: $0, encoding: .utf8) != nil }) == true,
            let index = exchange.responseFields.firstIndex(where: { $0.name.lowercased() == "content-type" }),
            let type = MediaType(exchange.responseFields[index].value), let charset = type.charset, charset.lowercased() != "utf-8",
            charset.lowercased() != "utf8"
        else { return }
        let parameters = type.parameters.map { ($0.name, $0.name.lowercased() == "charset" ? "utf-8" : $0.value) }
        guard let changed = MediaType(type: type.type, subtype: type.subtype, parameters: parameters) else { return }
        exchange.responseFields[index].value = "\(changed)"
    }

    private func decoded(_ base64: String, _ place: String) throws(TestingFailure) -> Data {
        guard let data = Data(base64Encoded: base64) ?? Data(base64Encoded: base64.filter { !$0.isWhitespace }) else {
            throw fault(place, "isn't Base64", "encode the bytes of the body again")
        }
        return data
    }

    private func readTimes(_ entry: JSONValue, to exchange: inout RecordedExchange) {
        // Unknown times are -1. No exchange takes a year.
        func duration(_ value: JSONValue?) -> Duration? {
            guard let number = value?.double, number >= 0, number < 31_536_000_000 else { return nil }
            return .microseconds(Int64((number * 1_000).rounded()))
        }
        exchange.timeToEnd = duration(entry["time"])
        if let receive = duration(entry["timings"]?["receive"]), let end = exchange.timeToEnd, receive <= end {
            exchange.timeToHead = end - receive
        }
    }

    private func failure(_ response: JSONValue, status: Int) -> RecordedExchange.Failure? {
        let message = response["_error"]?.string
        guard message != nil || status == 0 else { return nil }
        let code = response["_errorCode"]?.string.map(TransportError.Code.init(rawValue:)) ?? .other
        // Chrome also writes an error for a complete response, for example if a page wasn't allowed to read it.
        guard status == 0 || response["_errorCode"] != nil else { return nil }
        var failure = RecordedExchange.Failure(code: code, message: message ?? "The recorded request got no response.")
        failure.isConnectionStale = response["_isConnectionStale"]?.bool ?? false
        failure.isUnprocessed = response["_isUnprocessed"]?.bool ?? false
        return failure
    }
}
