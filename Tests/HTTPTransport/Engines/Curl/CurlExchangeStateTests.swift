import Foundation
import Testing

@testable import HTTPTransport

@Suite struct CurlExchangeStateTests {
    private let pool = BodyBlocks()

    private func receive(_ text: String, _ state: inout CurlExchangeState) {
        Array(text.utf8).withUnsafeBytes { state.receive($0, pool) }
    }

    @Test func `a reader who comes late finds what has come before`() async throws {
        // A reader that checks the buffer and then waits must also wake if bytes arrive between the two.
        let state = Locked(CurlExchangeState())
        state.withLock { receive("hello", &$0) }
        let piece = try await withUnsafeThrowingContinuation { (reader: CurlExchangeState.BodyReader) in
            switch state.withLock({ $0.read(reader, 1) }) {
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

    @Test func `who wants all is told of enough, of the end, of an error and of a full buffer`() {
        var state = CurlExchangeState()
        receive("hello", &state)
        #expect(state.takeBlock(ofAtLeast: 6) == nil)
        pool.give(state.takeRest())
        let events: [(inout CurlExchangeState) -> Void] = [
            { self.receive("!", &$0) }, { $0.finish(nil) }, { $0.isPaused = true },
            { _ = $0.abandon(TransportError(.timedOutIdle, "Nothing came."), keepingBytes: true, self.pool) },
        ]
        for event in events {
            var state = CurlExchangeState()
            receive("hello", &state)
            event(&state)
            let block = state.takeBlock(ofAtLeast: 6)
            #expect(block.map { $0.count >= 5 } == true)
            if let block { pool.give(block) }
        }
    }

    @Test func `one who sleeps until enough has come gets what there is when it ends`() async throws {
        let state = Locked(CurlExchangeState())
        state.withLock { receive("hello", &$0) }
        let piece = try await withUnsafeThrowingContinuation { (reader: CurlExchangeState.BodyReader) in
            guard case .waits = state.withLock({ $0.read(reader, 1000) }) else {
                return reader.resume(returning: nil)
            }
            state.withLock { $0.flush(pool) }.perform(pool)
            let error = TransportError(.timedOutIdle, "Nothing came.")
            state.withLock { $0.abandon(error, keepingBytes: true, pool) }.0.perform(pool)
        }
        #expect(piece == Data("hello".utf8))
        guard case .end(.failure(let error)) = state.withLock({ $0.readAtOnce(1000) }) else {
            Issue.record("behind the bytes there is the error")
            return
        }
        #expect((error as? TransportError)?.code == .timedOutIdle)
    }

    /// Returns the sizes of the pieces that a waiting collector receives when the body arrives in reads of this size.
    private func pieces(of length: Int, reads: Int, isKnown: Bool) async throws -> [Int] {
        let state = Locked(CurlExchangeState())
        state.withLock { $0.deliver(CurlHead(bytes: [], informational: []), length: isKnown ? length : 0) }
        var rest = length
        var pieces: [Int] = []
        while true {
            let piece = try await withUnsafeThrowingContinuation { (reader: CurlExchangeState.BodyReader) in
                switch state.withLock({ $0.read(reader, .max) }) {
                case .block(let block): return reader.resume(returning: pool.data(of: block))
                case .end(let result): return reader.resume(with: result)
                case .waits: break
                }
                var isAwake = false
                while !isAwake {
                    let count = min(reads, rest)
                    state.withLock { receive(String(repeating: "a", count: count), &$0) }
                    rest -= count
                    if rest == 0 { state.withLock { $0.finish(nil) } }
                    let effects = state.withLock { $0.flush(pool) }
                    isAwake = effects.reader != nil
                    effects.perform(pool)
                }
            }
            guard let piece else { return pieces }
            pieces.append(piece.count)
        }
    }

    @Test(arguments: [88_000, 131_073, 200_000, 256 * 1024], [16_000, 61_440])
    func `a body of known length is one piece for who wants all`(length: Int, reads: Int) async throws {
        #expect(try await pieces(of: length, reads: reads, isKnown: true) == [length])
    }

    @Test func `of a longer one, or one of unknown length, full pieces are taken without being waited for`() async throws {
        for isKnown in [false, true] {
            let pieces = try await pieces(of: 400_000, reads: 50_000, isKnown: isKnown)
            #expect(pieces.reduce(0, +) == 400_000)
            #expect(pieces.dropLast().allSatisfy { $0 == BodyBlocks.sizes[0] }, "\(pieces)")
        }
    }

    @Test func `while one collects, no other takes its bytes`() async throws {
        let state = Locked(CurlExchangeState())
        state.withLock { receive("hello", &$0) }
        let piece = try await withUnsafeThrowingContinuation { (reader: CurlExchangeState.BodyReader) in
            guard case .waits = state.withLock({ $0.read(reader, 1000) }) else { return reader.resume(returning: nil) }
            guard case .end(.failure) = state.withLock({ $0.readAtOnce(1) }) else { return reader.resume(returning: nil) }
            state.withLock { $0.finish(nil) }
            state.withLock { $0.flush(pool) }.perform(pool)
        }
        #expect(piece == Data("hello".utf8))
    }

    @Test func `the loop goes on once enough has been read`() {
        var state = CurlExchangeState()
        for _ in 0..<3 { receive(String(repeating: "a", count: BodyBlocks.sizes[0]), &state) }
        state.isPaused = true
        let tooEarly = state.resumes(below: 100_000)
        #expect(!tooEarly)
        for _ in 0..<2 { state.takeBlock().map(pool.give) }
        let (first, second) = (state.resumes(below: 100_000), state.resumes(below: 100_000))
        #expect(first && !second)
        pool.give(state.takeRest())
    }

    @Test func `abandoned, it keeps nothing and says whether the engine still has it`() {
        var state = CurlExchangeState()
        receive("hello", &state)
        let (effects, isRunning) = state.abandon(CancellationError(), pool)
        #expect(isRunning && state.waiting == 0)
        effects.perform(pool)
        let (_, isStillRunning) = state.abandon(CancellationError(), pool)
        #expect(!isStillRunning)
        var done = CurlExchangeState()
        done.finish(nil)
        let (_, wasRunning) = done.abandon(CancellationError(), pool)
        #expect(!wasRunning)
    }
}
