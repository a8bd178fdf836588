import Foundation
import RemoteLogger
import WebServiceTesting

/// A receiver that stores repeated records once, and the key that it recognizes them by.
struct RepeatingReceiver: Sendable {
    /// A received record.
    struct Entry: Sendable {
        /// The key of the record.
        let key: String
        let number: Int
    }

    let name: String
    let path: String
    let format: any LogFormat
    /// Returns the records of a body; `nil` if the body is invalid.
    let entries: @Sendable (Data) -> [Entry]?
    /// Returns the response to a number of known records.
    let answer: @Sendable (Int) -> LoopbackResponse

    /// Documents by their ids.
    static let elasticsearch = RepeatingReceiver(
        name: "Elasticsearch", path: "/_bulk", format: ElasticsearchFormat(index: "logs"),
        entries: { body in
            let lines = body.split(separator: UInt8(ascii: "\n"))
            var entries: [Entry] = []
            for index in stride(from: 0, to: lines.count - 1, by: 2) {
                guard let create = try? JSONDecoder().decode(Create.self, from: lines[index]),
                    let document = try? JSONDecoder().decode(Document.self, from: lines[index + 1])
                else { return nil }
                entries.append(Entry(key: create.create._id, number: document.metadata.number))
            }
            return entries
        },
        answer: { count in
            let items = Array(repeating: #"{"create":{"status":409}}"#, count: count).joined(separator: ",")
            return .json(#"{"errors":true,"items":[\#(items)]}"#)
        })

    /// Lines by their streams, times, texts and metadata: exact repeats are dropped, and anything different is stored again.
    static let loki = RepeatingReceiver(
        name: "Loki", path: "/loki/api/v1/push", format: LokiFormat(labels: ["app": "shop"]),
        entries: { body in
            guard let push = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
                let streams = push["streams"] as? [[String: Any]]
            else { return nil }
            var entries: [Entry] = []
            for stream in streams {
                guard let labels = stream["stream"] as? [String: String], let values = stream["values"] as? [[Any]] else { return nil }
                for value in values {
                    guard value.count == 3, let metadata = value[2] as? [String: String],
                        let number = metadata["number"].flatMap({ Int($0) })
                    else { return nil }
                    let key = [labels, metadata].map { "\($0.sorted { $0.key < $1.key })" } + ["\(value[0])", "\(value[1])"]
                    entries.append(Entry(key: key.joined(separator: "|"), number: number))
                }
            }
            return entries
        },
        answer: { _ in .status(204) })

    private struct Create: Decodable {
        struct Action: Decodable { let _id: String }
        let create: Action
    }

    private struct Document: Decodable {
        struct Metadata: Decodable { let number: Int }
        let metadata: Metadata
    }
}
