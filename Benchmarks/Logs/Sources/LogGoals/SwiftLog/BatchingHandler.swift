#if SwiftLog
import Foundation
import Logging

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A minimal handler built with only swift-log and Foundation, like handlers that keep records in memory: an unbounded stream, and a task
/// that posts batches of JSON. It doesn't retry, mask or compress.
struct BatchingHandler: LogHandler {
    /// Receives the entries and sends them.
    final class Sender: Sendable {
        private struct Entry: Encodable, Sendable {
            let time: Date
            let level: String
            let message: String
            let metadata: [String: String]
        }

        private let entries: AsyncStream<Entry>.Continuation
        private let task: Task<Int, Never>

        /// - Parameter batch: The number of entries per request.
        init(to url: URL, batch: Int = 512) {
            let (stream, entries) = AsyncStream<Entry>.makeStream()
            self.entries = entries
            task = Task {
                let encoder = JSONEncoder()
                var (waiting, delivered) = ([Entry](), 0)
                func send() async {
                    var request = URLRequest(url: url)
                    request.httpMethod = "POST"
                    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                    guard let body = try? encoder.encode(waiting) else { return }
                    if let (_, response) = try? await URLSession.shared.upload(for: request, from: body),
                        (response as? HTTPURLResponse)?.statusCode == 200
                    {
                        delivered += waiting.count
                    }
                    waiting.removeAll(keepingCapacity: true)
                }
                for await entry in stream {
                    waiting.append(entry)
                    if waiting.count == batch { await send() }
                }
                if !waiting.isEmpty { await send() }
                return delivered
            }
        }

        fileprivate func take(_ event: LogEvent, _ metadata: Logger.Metadata) {
            entries.yield(
                Entry(
                    time: Date(), level: event.level.rawValue, message: event.message.description,
                    metadata: metadata.mapValues(\.description)))
        }

        /// Sends the remaining entries.
        ///
        /// - Returns: The total number of delivered entries.
        func end() async -> Int {
            entries.finish()
            return await task.value
        }
    }

    let sender: Sender
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        sender.take(event, metadata.merging(event.metadata ?? [:]) { $1 })
    }
}
#endif
