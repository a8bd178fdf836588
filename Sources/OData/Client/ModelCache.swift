import Foundation
import ODataMetadata
import WebServiceClient

/// The models of a client's service, with what tells whether they are current.
///
/// Calls that fetch a document at the same time share the exchange; the document is then read once, in a task that no call's cancellation
/// ends.
final class ModelCache: Sendable {
    /// A model and the version of its document.
    struct Entry: Sendable {
        let model: ServiceModel
        /// The `ETag` of the document, or else its `Last-Modified`.
        let etag: String?
        let lastModified: String?
    }

    private struct Reading: Sendable {
        let body: Data
        let task: Task<ServiceModel, any Error>
    }

    private struct State {
        /// Entries by the URL of the document.
        var entries: [String: Entry] = [:]
        var readings: [String: Reading] = [:]
    }

    private let state = Locked(State())

    /// Returns the entry of a document's URL, or `nil`.
    subscript(url: String) -> Entry? { state.withLock { $0.entries[url] } }

    /// Reads a document, unless another call is reading the same one, and keeps its model.
    ///
    /// - Throws: `ServiceModelError`.
    func read(_ body: Data, of url: String, etag: String?, lastModified: String?) async throws -> ServiceModel {
        let reading = state.withLock { state in
            if let known = state.readings[url], known.body == body { return known }
            let made = Reading(body: body, task: Task { try ServiceModel(data: body) })
            state.readings[url] = made
            return made
        }
        let result = await reading.task.result
        return try state.withLock { state in
            if state.readings[url]?.task == reading.task { state.readings[url] = nil }
            let model = try result.get()
            state.entries[url] = Entry(model: model, etag: etag, lastModified: lastModified)
            return model
        }
    }
}
