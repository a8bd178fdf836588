import Foundation
import Testing

@testable import WebServiceClient

@Suite struct CurlExchangeStateTests {
    private let pool = BodyBlocks()

    private func receive(_ text: String, _ state: inout CurlExchangeState) {
        Array(text.utf8).withUnsafeBytes { state.receive($0, pool) }
    }

    @Test func `a reader who comes late finds what has come before`() async throws {
        // With a look first and the wait after it, nobody woke a reader for whom the buffer had filled in between.
        let state = Locked(CurlExchangeState())
        state.withLock { receive("hello", &$0) }
        let piece = try await withUnsafeThrowingContinuation { (reader: CurlExchangeState.BodyReader) in
            switch state.withLock({ $0.read(reader) }) {
            case .block(let block): reader.resume(returning: pool.data(of: block))
            case .end(let result): reader.resume(with: result)
            case .waits: reader.resume(returning: nil)
            }
        }
        #expect(piece == Data("hello".utf8))
    }

    @Test func `bytes that wait are read before an error, and before the end`() {
        for error in [nil, TransportError(.truncated, "It broke off.")] {
            var state = CurlExchangeState()
            receive("hello", &state)
            state.finish(error)
            let block = state.takeBlock()
            #expect(block?.count == 5)
            if let block { pool.give(block) }
            let other = state.takeBlock()
            #expect(other == nil)
        }
    }

    @Test func `the loop goes on once enough has been read`() {
        var state = CurlExchangeState()
        for _ in 0..<3 { receive(String(repeating: "a", count: BodyBlocks.size), &state) }
        state.isPaused = true
        let tooEarly = state.resumes(below: 100_000)
        #expect(!tooEarly)
        for _ in 0..<2 { state.takeBlock().map(pool.give) }
        let (first, second) = (state.resumes(below: 100_000), state.resumes(below: 100_000))
        #expect(first && !second)
        for block in state.takeRest() { pool.give(block) }
    }

    @Test func `abandoned, it keeps nothing and says whether the engine still has it`() {
        var state = CurlExchangeState()
        receive("hello", &state)
        let (effects, isRunning) = state.abandon(CancellationError())
        #expect(isRunning && state.waiting == 0)
        effects.perform(pool)
        let (_, isStillRunning) = state.abandon(CancellationError())
        #expect(!isStillRunning)
        var done = CurlExchangeState()
        done.finish(nil)
        let (_, wasRunning) = done.abandon(CancellationError())
        #expect(!wasRunning)
    }
}
