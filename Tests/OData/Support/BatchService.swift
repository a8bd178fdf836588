import Foundation
import WebServiceClient
import WebServiceTesting

@testable import OData

struct BatchPerson: Codable, Sendable, Equatable, EntityType {
    static let entitySetName = "People"
    var Id: Int
    var Name: String
}

struct BatchFriend: Codable, Sendable, Equatable { var Name: String }

/// A service in memory that executes batches, in all formats, with transactions for groups.
final class BatchService: Sendable {
    struct Content: Sendable, Equatable {
        var people: [Int: String] = [:]
        var friends: [Int: [String]] = [:]
        var nextID = 100
    }

    struct Options: Sendable {
        /// Whether parts of the answer name the request, which is optional outside change sets.
        var namesParts = true
        /// The order of the responses in JSON: by a seed, or as they were executed.
        var seed: UInt64?
        /// The positions of requests, from 0 on, that fail with 500.
        var failing: Set<Int> = []
        /// The status of the answer to a batch.
        var status = 200
        /// The status of the answer to a batch with a failed request.
        var failedStatus = 200
        /// Whether a change set's failure is written as a change set of one part, as version 2 does.
        var nestsFailures = false
        /// Whether it stops at an error unless a preference says that it goes on, in JSON too.
        var stopsByDefault = false
        /// Changes the written answer.
        var fault: @Sendable (Data) -> Data = { $0 }
    }

    struct Reply {
        var status: Int
        var headers: [(String, String)] = []
        var body = Data()

        static func json(_ text: String, _ status: Int = 200, _ headers: [(String, String)] = []) -> Reply {
            Reply(status: status, headers: [("Content-Type", "application/json")] + headers, body: Data(text.utf8))
        }

        static func error(_ status: Int, _ message: String) -> Reply {
            json(#"{"error":{"code":"E\#(status)","message":"\#(message)"}}"#, status)
        }
    }

    private struct Incoming {
        var id: String?
        var group: String?
        var dependencies: [String] = []
        var method: String
        var target: String
        var headers: HTTPFields
        var body: Data
    }

    private let data = Locked(Content())
    private let batches = Locked(0)
    let options: Locked<Options>

    init(_ options: Options = Options(), people: [Int: String] = [:]) {
        self.options = Locked(options)
        data.withLock { $0.people = people }
    }

    /// Returns a client of the service.
    func client(
        _ version: ODataVersion = .v4, _ settings: BatchSettings = BatchSettings(), stub: StubTransport = StubTransport()
    ) -> ODataClient {
        let client = stub.client(version)
        stub.fallback(answer)
        client.batching = settings
        return client
    }

    var content: Content { data.withLock { $0 } }
    /// The number of batches received.
    var count: Int { batches.withLock { $0 } }

    /// An answer of a stub.
    var answer: StubAnswer {
        .answering { request in
            let type = request.request.headers[.contentType] ?? ""
            let headers = request.request.headers
            // Version 2 has no preference, and goes on.
            let isV2 = headers["DataServiceVersion"] != nil
            let (status, answerType, body) = try self.execute(
                request.body ?? Data(), type: type, preference: isV2 ? "continue-on-error" : headers["Prefer"] ?? "", isV2: isV2)
            return .data(body, type: answerType, status: status)
        }
    }

    /// An answer to requests that are sent one by one.
    var singleAnswer: StubAnswer {
        .answering { request in
            let target = request.request.url.absoluteString.replacing("https://h.example/svc/", with: "")
            let reply = self.run(
                Incoming(
                    method: request.request.method.rawValue, target: target, headers: request.request.headers,
                    body: request.body ?? Data()),
                [:])
            var headers = HTTPFields()
            for (name, value) in reply.headers { headers[HTTPFields.Name(name)] = value }
            return reply.body.isEmpty
                ? .status(reply.status, headers: headers)
                : .data(reply.body, type: "application/json", status: reply.status, headers: headers)
        }
    }

    /// - Parameter isV2: Whether changes outside of change sets are refused.
    func execute(_ body: Data, type: String, preference: String, isV2: Bool = false) throws -> (Int, String, Data) {
        batches.withLock { $0 += 1 }
        let isJSON = MediaType(type)?.subtype == "json"
        let units = try isJSON ? Self.json(body) : Self.multipart(body, MediaType(type)?["boundary"] ?? "")
        let options = options.withLock { $0 }
        let continues =
            preference.contains("continue-on-error")
            ? !preference.contains("continue-on-error=false") : isJSON && !options.stopsByDefault
        var done: [(unit: [Incoming], replies: [Reply])] = []
        var results: [String: (status: Int, person: Int?)] = [:]
        var position = 0
        var hasFailed = false
        for unit in units {
            if hasFailed, !continues { break }
            let before = data.withLock { $0 }
            var replies: [Reply] = []
            for request in unit {
                let fails = request.dependencies.contains { (results[$0]?.status ?? 200) >= 400 }
                let isRefused = isV2 && request.group == nil && request.method != "GET"
                let reply =
                    options.failing.contains(position)
                    ? .error(500, "broken")
                    : fails
                        ? .error(424, "dependency")
                        : isRefused ? .error(400, "a change outside of a change set") : run(request, results)
                position += 1
                replies.append(reply)
                if let id = request.id { results[id] = (reply.status, Self.person(reply)) }
                if reply.status >= 400, request.group != nil {
                    data.withLock { $0 = before }
                    for other in unit { if let id = other.id, id != request.id { results[id] = (424, nil) } }
                    if let group = request.group { results[group] = (424, nil) }
                    position += unit.count - replies.count
                    break
                }
            }
            hasFailed = hasFailed || replies.contains { $0.status >= 400 }
            done.append((unit, replies))
        }
        let answer = isJSON ? Self.writtenJSON(done, options) : Self.written(done, options)
        return (
            hasFailed ? options.failedStatus : options.status, isJSON ? "application/json" : "multipart/mixed; boundary=b",
            options.fault(answer)
        )
    }

    // MARK: Requests

    private static func multipart(_ body: Data, _ boundary: String) throws -> [[Incoming]] {
        var reader = MultipartBatchReader(boundary: boundary, limit: 1 << 24)
        reader.feed(body)
        reader.finish()
        var units: [[Incoming]] = []
        while let part = try reader.nextPart() {
            switch part {
            case .message(let message): units.append([try incoming(message.get(), group: nil)])
            case .changeSet(let messages, let fault):
                if let fault { throw TestingFailure(fault) }
                units.append(try messages.map { try incoming($0.get(), group: "set\(units.count)") })
            }
        }
        return units
    }

    private static func incoming(_ message: BatchMessage, group: String?) throws -> Incoming {
        let words = message.startLine.split(separator: " ").map(String.init)
        guard words.count == 3 else { throw TestingFailure("no request line: \(message.startLine)") }
        return Incoming(
            id: message.id, group: group, method: words[0], target: words[1], headers: message.headers, body: message.body)
    }

    private static func json(_ body: Data) throws -> [[Incoming]] {
        var units: [[Incoming]] = []
        for value in try ODataValue(json: body)["requests"]?.array ?? [] {
            var headers = HTTPFields()
            for property in value["headers"]?.object?.properties ?? [] {
                headers.append(HTTPFields.Name(property.name), property.value.string ?? "")
            }
            let body = try value["body"].map { try ODataEncoder().encode($0) } ?? Data()
            let request = Incoming(
                id: value["id"]?.string, group: value["atomicityGroup"]?.string,
                dependencies: value["dependsOn"]?.array?.compactMap(\.string) ?? [], method: value["method"]?.string ?? "",
                target: value["url"]?.string ?? "", headers: headers, body: body)
            if let group = request.group, units.last?.last?.group == group {
                units[units.count - 1].append(request)
            } else {
                units.append([request])
            }
        }
        return units
    }

    private static func person(_ reply: Reply) -> Int? {
        reply.headers.first { $0.0 == "Location" }.flatMap { key(in: $0.1) }
    }

    private static func key(in target: String) -> Int? {
        target.firstRange(of: "People(").flatMap { Int(target[$0.upperBound...].prefix { $0 != ")" }) }
    }

    private func run(_ request: Incoming, _ results: [String: (status: Int, person: Int?)]) -> Reply {
        var target = String(request.target.prefix { $0 != "?" })
        for prefix in ["https://h.example/svc/", "/svc/"] where target.hasPrefix(prefix) { target.removeFirst(prefix.count) }
        if target.hasPrefix("$") {
            let id = String(target.dropFirst().prefix { $0 != "/" })
            guard let person = results[id]?.person else { return .error(400, "no entity $\(id)") }
            target = "People(\(person))" + target.dropFirst(id.count + 1)
        }
        let name = (try? ODataValue(json: request.body))?["Name"]?.string
        return data.withLock { data in
            let key = Self.key(in: target)
            switch (request.method, target.hasSuffix("/Friends")) {
            case ("GET", _) where target == "People":
                let all = data.people.sorted { $0.key < $1.key }.map { #"{"Id":\#($0.key),"Name":"\#($0.value)"}"# }
                return .json(#"{"value":[\#(all.joined(separator: ","))]}"#)
            case ("GET", _) where target == "People/$count":
                return Reply(status: 200, headers: [("Content-Type", "text/plain")], body: Data("\(data.people.count)".utf8))
            case ("GET", false):
                guard let key, let name = data.people[key] else { return .error(404, "no such person") }
                return .json(#"{"Id":\#(key),"Name":"\#(name)"}"#, 200, [("ETag", #""\#(name)""#)])
            case ("POST", true):
                guard let key, data.people[key] != nil else { return .error(404, "no such person") }
                data.friends[key, default: []].append(name ?? "")
                return .json(#"{"Name":"\#(name ?? "")"}"#, 201)
            case ("POST", false) where target == "People":
                if name == "bad" { return .error(400, "a bad name") }
                let id = data.nextID
                data.nextID += 1
                data.people[id] = name ?? ""
                return .json(#"{"Id":\#(id),"Name":"\#(name ?? "")"}"#, 201, [("Location", "https://h.example/svc/People(\(id))")])
            case ("PATCH", false), ("MERGE", false):
                guard let key, let old = data.people[key] else { return .error(404, "no such person") }
                if let match = request.headers["If-Match"], match != "*", match != #""\#(old)""# { return .error(412, "changed") }
                data.people[key] = name ?? ""
                return Reply(status: 204)
            case ("DELETE", false):
                guard let key, data.people.removeValue(forKey: key) != nil else { return .error(404, "no such person") }
                return Reply(status: 204)
            default:
                return .error(405, "\(request.method) \(target)")
            }
        }
    }

    // MARK: Answers

    private static func part(_ reply: Reply, _ id: String?, _ boundary: String) -> Data {
        var head = "--\(boundary)\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        if let id { head += "Content-ID: \(id)\r\n" }
        head += "\r\nHTTP/1.1 \(reply.status) OK\r\n"
        for (name, value) in reply.headers { head += "\(name): \(value)\r\n" }
        return Data((head + "\r\n").utf8) + reply.body + Data("\r\n".utf8)
    }

    private static func written(_ done: [(unit: [Incoming], replies: [Reply])], _ options: Options) -> Data {
        var text = Data()
        for (number, (unit, replies)) in done.enumerated() {
            guard unit.first?.group != nil else {
                text += part(replies[0], options.namesParts ? unit[0].id : nil, "b")
                continue
            }
            let failed = replies.firstIndex { $0.status >= 400 }
            if let failed, !options.nestsFailures {
                text += part(replies[failed], options.namesParts ? unit[failed].id : nil, "b")
                continue
            }
            text += Data("--b\r\nContent-Type: multipart/mixed; boundary=c\(number)\r\n\r\n".utf8)
            for (request, reply) in zip(unit, replies) where failed == nil || reply.status >= 400 {
                text += part(reply, request.id, "c\(number)")
            }
            text += Data("--c\(number)--\r\n".utf8)
        }
        return text + Data("--b--\r\n".utf8)
    }

    private static func writtenJSON(_ done: [(unit: [Incoming], replies: [Reply])], _ options: Options) -> Data {
        var items: [String] = []
        for (unit, replies) in done {
            let hasFailed = replies.contains { $0.status >= 400 } && unit.first?.group != nil
            for (index, request) in unit.enumerated() {
                let reply = index < replies.count ? replies[index] : .error(424, "its group failed")
                var headers = reply.headers.map { #""\#($0.0.lowercased())":\#(BatchWriter.quoted($0.1))"# }.joined(separator: ",")
                if hasFailed, reply.status < 400 { headers = "" }
                var text = #"{"id":"\#(request.id ?? "")","status":\#(reply.status),"headers":{\#(headers)}"#
                if let group = request.group { text += #","atomicityGroup":"\#(group)""# }
                if !reply.body.isEmpty {
                    let body = String(decoding: reply.body, as: UTF8.self)
                    text += #","body":"# + (body.hasPrefix("{") ? body : BatchWriter.quoted(body))
                }
                items.append(text + "}")
            }
        }
        if let seed = options.seed {
            var generator = SystemOrder(seed: seed)
            items.shuffle(using: &generator)
        }
        return Data(#"{"responses":[\#(items.joined(separator: ","))]}"#.utf8)
    }
}

/// A generator of shuffles that depends only on its seed.
private struct SystemOrder: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }
}
