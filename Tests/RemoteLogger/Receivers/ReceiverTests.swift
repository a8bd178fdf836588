import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

/// Each format with a receiver that behaves as documented, including temporary failures.
@Suite struct ReceiverTests {
    private static let seeds = 1...3 as ClosedRange<UInt64>

    /// Checks the rule of every receiver: valid records have arrived; others are counted and in the dead-letter file.
    private func check(
        _ receiver: ScriptedReceiver, _ result: (counts: LogStatistics, sound: [String], poison: Set<String>), _ box: DeadLetterBox,
        duplicatesAllowed: Bool
    ) {
        let state = receiver.state.withLock { $0 }
        #expect(state.violations.isEmpty, "\(state.violations.joined(separator: "\n"))")
        #expect(Set(result.sound).isSubset(of: state.stored), "everything sound has arrived")
        #expect(Set(state.stored).isDisjoint(with: result.poison))
        if !duplicatesAllowed { #expect(Set(state.stored).count == state.stored.count) }
        #expect(result.counts.buffered == 0)
        #expect(result.counts.emitted == result.counts.delivered + result.counts.droppedInAll)
        #expect(result.counts.delivered == UInt64(result.sound.count) && result.counts.dropped[.rejected] ?? 0 == result.poison.count)
        #expect(Set(box.ids) == result.poison)
        box.remove()
    }

    // MARK: Elasticsearch

    @Test(arguments: seeds) func `Elasticsearch stores each document once and tells each one's fate`(seed: UInt64) async throws {
        let box = try DeadLetterBox()
        let receiver = try ScriptedReceiver(seed: seed, bodyLimit: 12_000) { request, state in
            state.require(request.fields["Content-Type"] == "application/x-ndjson", "Content-Type")
            state.require(request.path == "/_bulk" && request.query?.contains("filter_path") == true, request.target)
            state.require(request.body.last == UInt8(ascii: "\n"), "the last line has no end")
            let lines = request.body.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            state.require(lines.count % 2 == 0, "odd lines")
            var items: [String] = []
            var errors = false
            for index in stride(from: 0, to: lines.count - 1, by: 2) {
                let action = state.object(Data(lines[index]))["create"] as? [String: Any] ?? [:]
                let document = state.object(Data(lines[index + 1]))
                let id = action["_id"] as? String ?? ""
                state.require(action["_index"] as? String == "logs-shop" && id.utf8.count == 32, "\(action)")
                state.require((document["@timestamp"] as? String)?.hasSuffix("Z") == true && document["message"] is String, "\(document)")
                state.require((document["event"] as? [String: Any])?["id"] as? String == id, "event.id")
                let isPoison = (document["metadata"] as? [String: Any])?["poison"] as? Bool == true
                if isPoison {
                    errors = true
                    items.append(#"{"create":{"status":400,"error":{"type":"document_parsing_exception","reason":"no"}}}"#)
                } else if state.stored.contains(id) {
                    errors = true
                    items.append(#"{"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"there"}}}"#)
                } else if Int.random(in: 0..<15, using: &state.moods) == 0 {
                    errors = true
                    items.append(#"{"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"full"}}}"#)
                } else {
                    state.stored.append(id)
                    items.append(#"{"create":{"status":201}}"#)
                }
            }
            return .json("{\"errors\":\(errors),\"items\":[\(items.joined(separator: ","))]}")
        }
        let url = ElasticsearchFormat.bulkURL(of: receiver.server.url)
        let target = url.path() + "?" + (url.query() ?? "")
        let format = ElasticsearchFormat(index: "logs-shop", fields: ["service": ["name": "shop"] as LogMetadata])
        let result = try await receiver.ship(400, to: target, format: format, deadLetters: box.letters, poisonEvery: 40)
        check(receiver, result, box, duplicatesAllowed: false)
        #expect(box.lines.allSatisfy { $0["message"] as? String == "document_parsing_exception: no" })
    }

    // MARK: Loki

    @Test(arguments: seeds) func `Loki stores each line once, whatever is sent again`(seed: UInt64) async throws {
        let box = try DeadLetterBox()
        let entries = Locked<Set<String>>([])
        let receiver = try ScriptedReceiver(seed: seed, bodyLimit: 20_000) { request, state in
            state.require(request.path == "/loki/api/v1/push" && request.fields["Content-Type"] == "application/json", request.target)
            state.require(request.fields["X-Scope-OrgID"] == "shop", "tenant")
            for stream in state.object(request.body)["streams"] as? [[String: Any]] ?? [] {
                let labels = stream["stream"] as? [String: String] ?? [:]
                state.require(!labels.isEmpty && labels.count <= 15 && labels["level"] != nil && labels["app"] == "shop", "\(labels)")
                var last = 0
                for value in stream["values"] as? [[Any]] ?? [] {
                    let time = (value.first as? String).flatMap { Int($0) } ?? 0
                    let metadata = value.count > 2 ? value[2] as? [String: String] ?? [:] : [:]
                    state.require(value.count == 3 && time >= last && value[1] is String && metadata.count <= 128, "\(value)")
                    state.require(
                        metadata.keys.allSatisfy { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } }, "\(metadata.keys)")
                    last = time
                    let entry = "\(labels.sorted { $0.key < $1.key })|\(time)|\(value[1])|\(metadata.sorted { $0.key < $1.key })"
                    if entries.withLock({ $0.insert(entry).inserted }) { state.stored.append(metadata["record_id"] ?? "") }
                }
            }
            return .status(204)
        }
        let format = LokiFormat(labels: ["app": "shop", "env": "test"])
        let result = try await receiver.ship(400, to: "/loki/api/v1/push", format: format, deadLetters: box.letters) {
            $0.headers["X-Scope-OrgID"] = "shop"
        }
        check(receiver, result, box, duplicatesAllowed: false)
    }

    @Test func `what Loki refuses of a batch is counted, and nothing is sent again`() throws {
        let text =
            "entry for stream '{app=\"shop\"}' has timestamp too old: 2026-02-01T00:00:00Z, oldest acceptable timestamp is: 2026-02-22T00:00:00Z,"
            + "\nuser 'fake', total ignored: 3 out of 7 for stream: {app=\"shop\"}"
        let format = LokiFormat(labels: [:])
        let verdict = format.judge(ReceiverAnswer(status: 400, body: Data(text.utf8), records: 7))
        guard case .partiallyRejected(3, _) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(format.judge(ReceiverAnswer(status: 400, body: Data("x total ignored: 9 out of 7".utf8), records: 7)) != .retry)
        #expect(format.labels.map(\.name) == ["service_name"])
        #expect(LokiFormat(labels: ["1 a": "x", "__b": 1, "level": 2]).labels.map(\.name) == ["x1_a", "x__b"])
    }

    // MARK: Splunk

    @Test(arguments: seeds) func `Splunk's batches count when they are indexed`(seed: UInt64) async throws {
        let box = try DeadLetterBox()
        let receiver = try ScriptedReceiver(seed: seed, bodyLimit: 30_000) { request, state in
            state.require(request.fields["Authorization"] == "Splunk x", "Authorization")
            let channel = request.fields["X-Splunk-Request-Channel"] ?? ""
            state.require(UUID(uuidString: channel) != nil, "channel")
            if request.path == "/services/collector/ack" {
                state.require(request.queryItems.first { $0.name == "channel" }?.value == channel, "channel in query")
                let ids = state.object(request.body)["acks"] as? [Int] ?? []
                state.require(!ids.isEmpty && Set(ids).count == ids.count, "acks")
                // The confirmation is delayed, and comes only once.
                let answers = ids.map { id in
                    let asked = state.notes["ack \(id)", default: 0]
                    state.notes["ack \(id)"] = asked + 1
                    return "\"\(id)\":\(asked == 1)"
                }
                return .json("{\"acks\":{\(answers.joined(separator: ","))}}")
            }
            state.require(request.path == "/services/collector/event", request.target)
            var events: [(String, Bool)] = []
            for line in request.body.split(separator: UInt8(ascii: "\n")) {
                let object = state.object(Data(line))
                let event = object["event"] as? [String: Any] ?? [:]
                state.require(object["time"] is NSNumber && object["index"] as? String == "main" && event["message"] is String, "\(object)")
                events.append((event["id"] as? String ?? "", (event["metadata"] as? [String: Any])?["poison"] as? Bool == true))
            }
            let bad = events.firstIndex { $0.1 }
            state.stored += events.prefix(bad ?? events.count).map(\.0)
            if let bad { return .json("{\"text\":\"Invalid data format\",\"code\":6,\"invalid-event-number\":\(bad)}", status: 400) }
            state.notes["ids", default: 0] += 1
            return .json("{\"text\":\"Success\",\"code\":0,\"ackId\":\(state.notes["ids", default: 0])}")
        }
        var format = SplunkFormat(index: "main", source: "shop", acknowledges: true)
        format.acknowledgementInterval = .milliseconds(2)
        format.acknowledgementTimeout = .milliseconds(40)
        let result = try await receiver.ship(
            300, to: "/services/collector/event", format: format, deadLetters: box.letters, poisonEvery: 60
        ) {
            $0.headers[.authorization] = "Splunk x"
        }
        check(receiver, result, box, duplicatesAllowed: true)
    }

    @Test(
        arguments: [
            (200, #"{"code":0}"#, .delivered()), (503, #"{"text":"Server is busy","code":9}"#, .retry), (500, "", .retry),
            (413, "", .split),
            (400, #"{"text":"Incorrect index","code":7}"#, .pause(reason: "Incorrect index")),
            (403, #"{"text":"Invalid token","code":4}"#, .pause(reason: "Invalid token")), (400, "?", .isolate(reason: "?")),
            (400, #"{"text":"ACK is disabled","code":14}"#, .pause(reason: "ACK is disabled")), (404, "", .pause(reason: "")),
            (
                400, #"{"text":"Query string authorization is not enabled","code":16}"#,
                .pause(reason: "Query string authorization is not enabled")
            ),
            (400, #"{"text":"Invalid token","code":21}"#, .pause(reason: "Invalid token")),
            (400, #"{"text":"Token disabled","code":22}"#, .pause(reason: "Token disabled")),
            (400, #"{"text":"Incorrect index","code":7,"invalid-event-number":0}"#, .pause(reason: "Incorrect index")),
            (400, #"{"text":"No data","code":5}"#, .isolate(reason: "No data")),
            (503, #"{"text":"Server is shutting down","code":23}"#, .retry), (500, #"{"text":"x","code":8}"#, .retry),
            (503, #"{"text":"HEC is unhealthy, queues are full","code":18}"#, .retry),
            (400, #"{"text":"No","code":15,"invalid-event-number":2}"#, .each([.delivered, .delivered, .rejected(reason: "No")])),
            (400, #"{"text":"No","code":6,"invalid-event-number":-1}"#, .isolate(reason: "No")),
            (400, #"{"text":"No","code":12,"invalid-event-number":1}"#, .each([.delivered, .rejected(reason: "No"), .retry])),
            (400, #"{"text":"No","code":6,"invalid-event-number":3}"#, .isolate(reason: "No")),
        ] as [(Int, String, DeliveryVerdict)])
    func `Splunk's answers are judged by its codes`(status: Int, body: String, verdict: DeliveryVerdict) {
        #expect(SplunkFormat().judge(ReceiverAnswer(status: status, body: Data(body.utf8), records: 3)) == verdict)
    }

    @Test func `with acknowledgement nothing counts that has no ticket`() {
        let answer = ReceiverAnswer(status: 400, body: Data(#"{"text":"No","code":12,"invalid-event-number":1}"#.utf8), records: 3)
        #expect(SplunkFormat(acknowledges: true).judge(answer) == .each([.retry, .rejected(reason: "No"), .retry]))
        // A proxy may answer with a text of megabytes.
        let long = Data("{\"code\":4,\"text\":\"token=hunter2\\n\(String(repeating: "x", count: 1 << 20))\"}".utf8)
        guard case .pause(let reason) = SplunkFormat().judge(ReceiverAnswer(status: 403, body: long, records: 3)) else {
            Issue.record("a wrong token pauses")
            return
        }
        #expect(reason.hasPrefix("token=") && !reason.contains("hunter2") && reason.count < 300 && reason.hasSuffix("xxx"))
    }

    // MARK: Datadog

    @Test(arguments: seeds) func `Datadog gets its items, and the one that spoils a batch is found`(seed: UInt64) async throws {
        let box = try DeadLetterBox()
        let receiver = try ScriptedReceiver(seed: seed) { request, state in
            state.require(request.fields["DD-API-KEY"] == "k" && request.path == "/api/v2/logs", request.target)
            let items = (try? JSONSerialization.jsonObject(with: request.body)) as? [[String: Any]] ?? []
            state.require((1...1_000).contains(items.count) && request.body.count <= 5_000_000, "\(items.count) items")
            for item in items {
                state.require(item["message"] is String && item["timestamp"] is Int && item["service"] as? String == "shop", "\(item)")
                state.require(item["ddtags"] as? String == "env:test,team:a" && item["status"] is String, "\(item)")
            }
            if items.contains(where: { ($0["metadata"] as? [String: Any])?["poison"] as? Bool == true }) {
                return .json("{\"errors\":[]}", status: 400)
            }
            state.stored += items.compactMap { $0["log.record.uid"] as? String }
            return .json("{}", status: 202)
        }
        let format = DatadogFormat(service: "shop", tags: ["env": "test", "team": "a"])
        let result = try await receiver.ship(300, to: "/api/v2/logs", format: format, deadLetters: box.letters, poisonEvery: 100) {
            $0.headers["DD-API-KEY"] = "k"
        }
        check(receiver, result, box, duplicatesAllowed: true)
        #expect(throws: LogShipperError.self) { try DatadogFormat.intakeURL(site: "evil.example/x?") }
        #expect(try DatadogFormat.intakeURL(site: "datadoghq.eu").absoluteString == "https://http-intake.logs.datadoghq.eu/api/v2/logs")
    }

    // MARK: GELF

    @Test(arguments: [false, true]) func `Graylog gets messages that it can't object to`(bulk: Bool) async throws {
        let box = try DeadLetterBox()
        let receiver = try ScriptedReceiver(seed: 5, bodyLimit: 64 << 10) { request, state in
            state.require(request.target == "/gelf", request.target)
            let lines = request.body.split(separator: UInt8(ascii: "\n"))
            state.require(bulk || lines.count == 1, "\(lines.count) messages")
            for line in lines {
                let message = state.object(Data(line))
                state.require(message["version"] as? String == "1.1" && message["host"] as? String == "shop-1", "\(message)")
                state.require((message["short_message"] as? String)?.isEmpty == false && message["timestamp"] is NSNumber, "\(message)")
                state.require((0...7).contains(message["level"] as? Int ?? -1) && message["_id"] == nil, "\(message)")
                for (name, value) in message where name.hasPrefix("_") {
                    let isBool = (value as? NSNumber).map { TruthValue.isOne($0) } ?? false
                    state.require(value is String || value is NSNumber && !isBool, "\(name): \(value)")
                    state.require(name.dropFirst().allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-".contains($0)) }, name)
                }
                state.stored.append(message["_record_id"] as? String ?? "")
            }
            return .status(202)
        }
        let result = try await receiver.ship(120, to: "/gelf", format: GELFFormat(host: "shop-1", bulk: bulk), deadLetters: box.letters)
        check(receiver, result, box, duplicatesAllowed: true)
        let requests = receiver.state.withLock { $0.requests }
        #expect(bulk ? requests < 60 : requests >= 120)
    }
}

/// Whether a number of JSONSerialization was a Boolean.
private enum TruthValue {
    static func isOne(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}
