/// A page that is fetched while the one before is used; given up when nobody waits for it any more.
final class PagePrefetch<Entity: Decodable & Sendable>: Sendable {
    private let task: Task<ODataPages<Entity>.Fetched, any Error>

    init(_ step: PageStep, by fetch: @escaping @Sendable (PageStep) async throws -> ODataPages<Entity>.Fetched) {
        task = Task { try await fetch(step) }
    }

    deinit { task.cancel() }

    func page() async throws -> ODataPages<Entity>.Fetched {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
