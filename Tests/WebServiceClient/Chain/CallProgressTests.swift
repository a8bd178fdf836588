import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CallProgressTests {
    @Test func `progress comes over all attempts, never less, with unknown totals nil`() async throws {
        let parts: [(Int64, Int64?)] = [(10, 100), (50, 100), (20, 40), (40, 40), (60, nil), (60, nil), (100, 100)]
        let seen = Locked<[TransferProgress]>([])
        let progress = CallProgress { direction, progress in
            if direction == .upload { seen.withLock { $0.append(progress) } }
        }
        for (completed, total) in parts { progress.note(TransferProgress(completed: completed, total: total), of: .upload) }
        progress.note(TransferProgress(completed: 5, total: 3), of: .download)
        #expect(seen.withLock { $0.map(\.completed) } == [10, 50, 60, 100])
        #expect(seen.withLock { $0.map(\.total) } == [100, 100, nil, 100])
    }

    @Test func `a download of unknown length has no total and no fraction`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/text") { (_: LoopbackRequest) in .pieces(["a", "bc", "def"].map { .init(Data($0.utf8)) }, type: "text/plain") }
        }
        defer { server.stop() }
        let client = Store(serviceRoot: server.url.absoluteString)
        try await watched {
            let call = client.http.get("/text").start(String.self)
            async let all = call.downloadProgress.reduce(into: [TransferProgress]()) { $0.append($1) }
            let text = try await call.value
            let received = await all
            #expect(text == "abcdef")
            #expect(received.last?.completed == 6)
            #expect(received.dropLast().allSatisfy { $0.total == nil && $0.fraction == nil })
            #expect(zip(received, received.dropFirst()).allSatisfy { $0.completed <= $1.completed })
        }
    }
}
