import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

/// Plays the public cases of http-tests/cache-tests against a scripted server, through a whole client.
@Suite struct CacheConformanceTests {
    /// Cases whose rules are for caches that serve several users, which this one never does.
    static func isShared(_ id: String) -> Bool { id.contains("-shared") || id.hasPrefix("other-authorization") }

    /// Cases that ought to fail, with the reason. The article has the same list.
    static let deviations: [String: String] = [
        "partial-store-partial-complete": "parts without a strong validator must not be combined (RFC 9111 §3.4)",
        "vary-normalise-lang-order": "many servers take the order of Accept-Language for a preference",
    ]

    enum Store: String, CaseIterable, Sendable {
        case memory
        case disk
    }

    @Test(arguments: Store.allCases) func `the public cases`(store: Store) async throws {
        guard let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"] else {
            print("Skipped the public cases of HTTP caches: SHARED_DIRECTORY isn't set.")
            return
        }
        let data = try Data(contentsOf: URL(filePath: folder).appending(path: "conformance/http-cache/cases.json"))
        let groups = try JSONDecoder().decode([CacheCaseGroup].self, from: data)
        var outcomes: [String: CacheCaseOutcome] = [:]
        for test in groups.flatMap(\.tests) where !Self.isShared(test.id) {
            outcomes[test.id] = try await CacheCasePlayer(test, store: store).play()
        }
        for test in groups.flatMap(\.tests) where outcomes[test.id] != nil {
            if let cause = test.dependsOn.first(where: { outcomes[$0].map { $0 != .passed } ?? false }) {
                outcomes[test.id] = .unjudged("\(cause) doesn't pass")
            }
        }
        var table = "\(store.rawValue)\n| group | required | optimal | check |\n|---|---|---|---|\n"
        var counts: [CacheCase.Kind: (passed: Int, all: Int)] = [:]
        for group in groups {
            var row = "| \(group.name) |"
            for kind in CacheCase.Kind.allCases {
                let tests = group.tests.filter { $0.kind == kind && outcomes[$0.id] != nil }
                let passed = tests.count { outcomes[$0.id] == .passed }
                counts[kind, default: (0, 0)].passed += passed
                counts[kind, default: (0, 0)].all += tests.count
                row += tests.isEmpty ? " – |" : " \(passed)/\(tests.count) |"
            }
            table += row + "\n"
        }
        table += "| all |" + CacheCase.Kind.allCases.map { " \(counts[$0]?.passed ?? 0)/\(counts[$0]?.all ?? 0) |" }.joined() + "\n"
        for test in groups.flatMap(\.tests) {
            guard let outcome = outcomes[test.id], outcome != .passed else { continue }
            table += "\(test.kind.rawValue) \(test.id): \(outcome)\n"
            if test.kind == .required, case .failed(let reason) = outcome { Issue.record("\(test.id): \(reason)") }
            if test.kind == .optimal, Self.deviations[test.id] == nil { Issue.record("\(test.id): \(outcome)") }
        }
        print(table)
        let optimal = try #require(counts[.optimal])
        #expect(Double(optimal.passed) >= 0.95 * Double(optimal.all))
    }
}

struct CacheCaseGroup: Decodable {
    let name: String
    let tests: [CacheCase]
}

struct CacheCase: Decodable, Sendable {
    enum Kind: String, Decodable, CaseIterable, Sendable {
        case required
        case optimal
        case check
    }

    let id: String
    let kind: Kind
    let dependsOn: [String]
    let requests: [CacheCaseStep]

    enum CodingKeys: String, CodingKey {
        case id, kind, requests
        case dependsOn = "depends_on"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        kind = try container.decodeIfPresent(Kind.self, forKey: .kind) ?? .required
        dependsOn = try container.decodeIfPresent([String].self, forKey: .dependsOn) ?? []
        requests = try container.decode([CacheCaseStep].self, forKey: .requests)
    }
}

/// A text, a number or a Boolean in the cases.
enum CacheCaseValue: Decodable, Sendable, Hashable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case list([CacheCaseValue])
    case none

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .list(try container.decode([CacheCaseValue].self))
        }
    }

    var list: [CacheCaseValue] { if case .list(let values) = self { values } else { [] } }
    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The value as a field's text; a number is a date that many seconds from now.
    func field(at now: Date) -> String {
        switch self {
        case .text(let text): text
        case .number(let seconds): HTTPDate.text(of: now.addingTimeInterval(seconds))
        default: ""
        }
    }
}

/// One request of a case, by the names of the data.
struct CacheCaseStep: Decodable, Sendable {
    private let values: [String: CacheCaseValue]

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: CacheCaseValue].self)
    }

    subscript(name: String) -> CacheCaseValue? { values[name] }

    func isSet(_ name: String) -> Bool { values[name] == .flag(true) }
    func text(_ name: String) -> String? { values[name]?.text }
    func list(_ name: String) -> [CacheCaseValue] { values[name]?.list ?? [] }

    var status: Int? {
        if case .number(let code)? = list("response_status").first { Int(code) } else { nil }
    }
}

enum CacheCaseOutcome: Equatable, CustomStringConvertible {
    case passed
    case failed(String)
    /// The case doesn't show anything about the cache.
    case unjudged(String)

    var description: String {
        switch self {
        case .passed: "passed"
        case .failed(let reason): "failed: \(reason)"
        case .unjudged(let reason): "can't be judged: \(reason)"
        }
    }
}

/// The server of one case.
private final class CacheCaseServer: Transport {
    struct Seen: Sendable {
        let number: Int
        let request: ServiceRequest
        let sent: [HTTPFields.Field]
    }

    let capabilities = TransportCapabilities(rawValue: .max)
    let test: CacheCase
    let identifier: String
    let clock: ManualCallClock
    let seen = Locked<[Seen]>([])
    /// The fields of each answer as sent, by the number of the request.
    private let answered = Locked<[Int: HTTPFields]>([:])

    init(_ test: CacheCase, _ identifier: String, _ clock: ManualCallClock) {
        self.test = test
        self.identifier = identifier
        self.clock = clock
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let number = request.headers["Req-Num"].flatMap { Int($0) } ?? 0
        let step = test.requests[number - 1]
        if case .number(let pause)? = step["response_pause"] { clock.advance(by: .seconds(pause)) }
        let now = clock.date
        var headers = HTTPFields()
        for item in step.list("response_headers").map(\.list) {
            guard let name = item[0].text else { continue }
            var value = item[1].field(at: now)
            if step.isSet("magic_locations"), name == "Location" || name == "Content-Location" {
                value = request.url.absoluteString + "/" + value
            }
            headers.append(HTTPFields.Name(name), value)
        }
        let own = Array(headers)
        seen.withLock { $0.append(Seen(number: number, request: request, sent: own)) }
        if step.isSet("disconnect") { throw TransportError(.connectionLost, "The case closes the connection.") }
        if !headers.contains(.contentType) { headers[.contentType] = "text/plain" }
        let (count, numbers) = seen.withLock { ($0.count, $0.map { String($0.number) }.joined(separator: " ")) }
        headers["Server-Request-Count"] = String(count)
        headers["Client-Request-Count"] = String(number)
        headers["Server-Now"] = String(Int64(now.timeIntervalSince1970 * 1_000))
        headers["Server-Base-Url"] = request.url.absoluteString
        headers["Request-Numbers"] = numbers
        var status = step.status ?? 200
        if step.text("expected_type")?.hasSuffix("validated") == true {
            let before = answered.withLock { $0[number - 1] } ?? [:]
            let isValid =
                before["ETag"].map { $0 == request.headers["If-None-Match"] } ?? false
                || before["Last-Modified"].map { $0 == request.headers["If-Modified-Since"] } ?? false
            status = isValid ? 304 : 999
        }
        answered.withLock { [headers] in $0[number] = headers }
        var body = Data()
        if status != 204, status != 304, request.method != .head { body = Data((Self.body(step) ?? identifier).utf8) }
        if let length = headers[.contentLength].flatMap({ Int($0) }) { body = body.prefix(length) }
        let interim = step.list("interim_responses").map { item in
            let fields = item.list.dropFirst().first?.list.map(\.list).map { pair in
                HTTPFields.Field(name: HTTPFields.Name(pair[0].text ?? ""), value: pair[1].text ?? "")
            }
            var code = 0
            if case .number(let number)? = item.list.first { code = Int(number) }
            return InformationalResponse(status: code, headers: HTTPFields(fields ?? []))
        }
        let pieces = Locked([body, nil] as [Data?])
        return TransportResponse(
            status: status, headers: headers, url: request.url,
            // Not in memory, so that the whole path of a body is played.
            body: ResponseBody(expectedLength: Int64(body.count), next: { pieces.withLock { $0.removeFirst() } }, cancel: {}),
            httpVersion: "HTTP/1.1", report: ExchangeReport(informational: interim, metrics: { ExchangeMetrics() }))
    }

    static func body(_ step: CacheCaseStep) -> String? {
        switch step["response_body"] {
        case .text(let text)?: text
        case CacheCaseValue.none?: ""
        default: nil
        }
    }
}

/// A clock for stages that stands still until it is advanced.
final class ManualCallClock: Sendable {
    private let offset = Locked(Duration.zero)
    private let start = MonotonicInstant.now
    private let startDate = Date(timeIntervalSince1970: 1_790_000_000)

    var date: Date { startDate.addingTimeInterval(offset.withLock { $0 } / .seconds(1)) }

    var clock: CallClock {
        CallClock(
            now: { self.start.advanced(by: self.offset.withLock { $0 }) }, date: { self.date },
            schedule: { _, action in
                action()
                return {}
            })
    }

    func advance(by duration: Duration) { offset.withLock { $0 += duration } }
}

/// The client of one case.
private struct CacheCasePlayer {
    private let test: CacheCase
    private let client: WebServiceClient
    private let server: CacheCaseServer
    private let clock = ManualCallClock()
    private let identifier = UUID().uuidString.lowercased()
    private let folder: TemporaryFolder?

    init(_ test: CacheCase, store: CacheConformanceTests.Store) {
        self.test = test
        let server = CacheCaseServer(test, identifier, clock)
        self.server = server
        let folder = store == .disk ? TemporaryFolder() : nil
        self.folder = folder
        client = CallClock.$current.withValue(clock.clock) {
            WebServiceClient(serviceRoot: "http://cache.test") {
                $0.transport = server
                $0.redirects = .stop
                $0.cache = folder.map { ResponseCache(directory: $0.url.appending(path: "cache")) } ?? ResponseCache()
                // The cases about lost connections need a cache that goes on without the server.
                $0.attributes[OfflineCaching.self] =
                    test.id.hasPrefix("stale-close") ? OfflineCaching(upTo: .seconds(86_400)) : nil
            }
        }
    }

    private struct Fault: Error {
        let reason: String
        let isSetup: Bool
    }

    func play() async throws -> CacheCaseOutcome {
        var last: HTTPFields = [:]
        for (index, step) in test.requests.enumerated() {
            let number = index + 1
            do {
                let answer = try await send(step, number, last)
                try check(step, number, answer)
                if let answer { last = answer.headers }
            } catch let fault as Fault {
                return fault.isSetup ? .unjudged("request \(number): \(fault.reason)") : .failed("request \(number): \(fault.reason)")
            }
            await client.runtime.background.idle()
            if step.isSet("pause_after") { clock.advance(by: .seconds(3)) }
        }
        return .passed
    }

    private struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: String
        let interim: [InformationalResponse]
    }

    private func send(_ step: CacheCaseStep, _ number: Int, _ last: HTTPFields) async throws -> Answer? {
        var target = "/test/\(identifier)"
        if let name = step.text("filename") { target += "/" + name }
        if let query = step.text("query_arg") { target += "?" + query }
        var call = client.http.request(ServiceRequest.Method(rawValue: step.text("request_method") ?? "GET"), encoded: target)
            .describing { $0.accepting(.any) }
        let fields = step.list("request_headers").map(\.list)
        let (clock, isMagic) = (clock, step.isSet("magic_ims"))
        call = call.prepare { request in
            request.headers["Req-Num"] = String(number)
            for item in fields {
                let name = HTTPFields.Name(item[0].text ?? "")
                var now = clock.date
                if isMagic, let milliseconds = last["Server-Now"].flatMap({ Double($0) }) {
                    now = Date(timeIntervalSince1970: milliseconds / 1_000)
                }
                request.headers.append(name, item[1].field(at: now))
            }
        }
        if let body = step.text("request_body") { call = call.body(Data(body.utf8)) }
        let mode: CacheMode =
            switch step.text("cache") {
            case "no-store": .noStore
            case "reload": .reload
            case "no-cache": .revalidate
            case "only-if-cached": .onlyCached
            default: .standard
            }
        do {
            let response = try await client.with(mode) { [call] _ in try await call.stream() }
            let body = try await response.value.collect(upTo: 1_000_000)
            return Answer(
                status: response.status, headers: response.headers, body: String(decoding: body, as: UTF8.self),
                interim: response.report?.informational ?? [])
        } catch let error as ServiceError where error.kind == .transport {
            return nil
        }
    }

    private func check(_ step: CacheCaseStep, _ number: Int, _ answer: Answer?) throws {
        let setupTests = Set(step.list("setup_tests").compactMap(\.text))
        func require(_ name: String, _ holds: Bool, isOwn: Bool = true, _ reason: @autoclosure () -> String) throws {
            guard !holds else { return }
            throw Fault(reason: reason(), isSetup: step.isSet("setup") || setupTests.contains(name) || !isOwn)
        }
        let seen = server.seen.withLock { $0 }
        let own = seen.last { $0.number == number }
        guard let answer else {
            return try require("expected_status", step["expected_status"] == CacheCaseValue.none, "the call failed")
        }
        let count = answer.headers["Server-Request-Count"].flatMap { Int($0) }
        if let type = step.text("expected_type") {
            switch type {
            case "cached":
                try require(
                    "expected_type", count.map { $0 < number } ?? (answer.status == 304), "the answer isn't from the cache")
            case "not_cached":
                try require("expected_type", count == number, "the answer is from the cache")
            case "etag_validated":
                try require("expected_type", own?.request.headers["If-None-Match"] != nil, "the request has no If-None-Match")
            case "lm_validated":
                try require("expected_type", own?.request.headers["If-Modified-Since"] != nil, "the request has no If-Modified-Since")
            default: break
            }
        }
        switch step["expected_status"] {
        case .number(let status)?: try require("expected_status", answer.status == Int(status), "the status is \(answer.status)")
        case CacheCaseValue.none?: break
        default:
            let isValidated = step.text("expected_type")?.hasSuffix("validated") == true
            let expected = step.status ?? 200
            try require(
                "expected_status", answer.status == (isValidated ? 200 : expected), isOwn: false, "the status is \(answer.status)")
        }
        for item in step.list("expected_response_headers") {
            let parts = item.text.map { [CacheCaseValue.text($0)] } ?? item.list
            guard let name = parts.first?.text.map({ HTTPFields.Name($0) }) else { continue }
            let value = answer.headers[name]
            switch (parts.count, parts.count > 1 ? parts[1] : .none) {
            case (1, _): try require("expected_response_headers", value != nil, "\(name) is missing")
            case (3, .text("=")):
                let other = parts[2].text.flatMap { answer.headers[HTTPFields.Name($0)] }
                try require("expected_response_headers", value == other, "\(name) is \(value ?? "missing")")
            case (3, .text(">")):
                guard case .number(let least) = parts[2] else { continue }
                try require(
                    "expected_response_headers", value.flatMap { Double($0) }.map { $0 > least } ?? false,
                    "\(name) is \(value ?? "missing")")
            case (_, .number(let seconds)):
                // A date relative to the time of the stored answer.
                let sent = answer.headers["Server-Now"].flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0 / 1_000) }
                let expected = sent.map { HTTPDate.text(of: $0.addingTimeInterval(seconds)) }
                try require("expected_response_headers", value == expected, "\(name) is \(value ?? "missing")")
            case (_, let expected):
                try require("expected_response_headers", value == expected.text, "\(name) is \(value ?? "missing")")
            }
        }
        for item in step.list("expected_response_headers_missing") {
            let name = HTTPFields.Name(item.text ?? item.list.first?.text ?? "")
            let unwanted = item.list.count > 1 ? item.list[1].text : nil
            let value = answer.headers[name]
            try require(
                "expected_response_headers_missing", unwanted == nil ? value == nil : value != unwanted, "\(name) is \(value ?? "")")
        }
        for item in step.list("expected_request_headers") {
            let name = HTTPFields.Name(item.text ?? item.list.first?.text ?? "")
            let value = own?.request.headers[name]
            let expected = item.list.count > 1 ? item.list[1].text : nil
            try require(
                "expected_request_headers", expected == nil ? value != nil : value == expected,
                "the request's \(name) is \(value ?? "missing")")
        }
        if let method = step.text("expected_method") {
            try require("expected_method", own?.request.method.rawValue == method, "the server didn't see \(method)")
        }
        for item in step.list("expected_interim_responses") {
            guard case .number(let status)? = item.list.first else { continue }
            try require(
                "expected_interim_responses", answer.interim.contains { $0.status == Int(status) }, "the \(Int(status)) is missing")
        }
        if step["check_body"] != .flag(false), answer.status != 204, answer.status != 304, step.text("request_method") != "HEAD" {
            let expected = step.text("expected_response_text") ?? CacheCaseServer.body(step) ?? identifier
            try require(
                "expected_response_text", answer.body == expected, isOwn: step.text("expected_response_text") != nil,
                "the body is \"\(answer.body)\"")
        }
        guard let own, count == own.number, answer.status != 304 else { return }
        for field in own.sent where !isAllowedToChange(field, step) {
            try require("headers", answer.headers[values: field.name].contains(field.value), "\(field.name) doesn't reach the client")
        }
    }

    private func isAllowedToChange(_ field: HTTPFields.Field, _ step: CacheCaseStep) -> Bool {
        step.list("response_headers").contains { item in
            item.list.first?.text.map { HTTPFields.Name($0) } == field.name && item.list.count > 2 && item.list[2] == .flag(false)
        }
    }
}
