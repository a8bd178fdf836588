import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct CallCancellationTests {
    @Test func `the first cause counts`() throws {
        let cancellation = CallCancellation()
        try cancellation.check()
        #expect(cancellation.cause == nil)
        #expect(cancellation.cancel(CallCancelled(.replaced, reason: "a later call")))
        #expect(!cancellation.cancel(CallCancelled(reason: "again")))
        #expect(cancellation.cause == CallCancelled(.replaced, reason: "a later call"))
        #expect(throws: CallCancelled(.replaced, reason: "a later call")) { try cancellation.check() }
    }

    @Test func `handlers are called once, in their order, and late ones at once`() {
        let cancellation = CallCancellation()
        let called = Locked<[String]>([])
        func handler(_ name: String) -> @Sendable () -> Void { { called.withLock { $0.append(name) } } }
        _ = cancellation.onCancel(handler("a"))
        let removed = cancellation.onCancel(handler("removed"))
        _ = cancellation.onCancel(handler("b"))
        cancellation.remove(removed)
        cancellation.remove(removed)
        cancellation.remove(.min)
        cancellation.cancel(CallCancelled(reason: "x"))
        cancellation.cancel(CallCancelled(reason: "y"))
        _ = cancellation.onCancel(handler("late"))
        #expect(called.withLock { $0 } == ["a", "b", "late"])
    }

    @Test func `handlers may use the cancellation`() {
        let cancellation = CallCancellation()
        let causes = Locked<[String?]>([])
        let number = Locked(0)
        number.withLock {
            $0 = cancellation.onCancel {
                causes.withLock { $0.append(cancellation.cause?.reason) }
                cancellation.remove(number.withLock { $0 })
                _ = cancellation.onCancel { causes.withLock { $0.append("inner") } }
                #expect(!cancellation.cancel(CallCancelled(reason: "again")))
            }
        }
        cancellation.cancel(CallCancelled(reason: "first"))
        #expect(causes.withLock { $0 } == ["first", "inner"])
    }

    @Test func `handlers are released when they have been called or removed`() {
        final class Witness: Sendable {}
        let cancellation = CallCancellation()
        weak var called: Witness?
        weak var removed: Witness?
        do {
            let (first, second) = (Witness(), Witness())
            (called, removed) = (first, second)
            _ = cancellation.onCancel { withExtendedLifetime(first) {} }
            cancellation.remove(cancellation.onCancel { withExtendedLifetime(second) {} })
        }
        #expect(called != nil && removed == nil)
        cancellation.cancel(CallCancelled(reason: "x"))
        #expect(called == nil)
    }

    @Test func `of many threads one cancels, and each handler is called once`() async {
        for _ in 0..<100 {
            let cancellation = CallCancellation()
            let (winners, calls) = (Locked(0), Locked(0))
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = cancellation.onCancel { calls.withLock { $0 += 1 } }
                        if cancellation.cancel(CallCancelled(reason: "\(number)")) { winners.withLock { $0 += 1 } }
                    }
                }
            }
            #expect(winners.withLock { $0 } == 1 && calls.withLock { $0 } == 8)
        }
    }

    @Test func `the error is one text, without control characters`() {
        let error = CallCancelled(.shutdown, reason: "the program\u{1B}[2J ends")
        #expect(error.description.hasPrefix("The call was cancelled: the program") && !error.description.contains("\u{1B}"))
        #expect(error.localizedDescription == error.description)
        #expect(CallCancelled(reason: "x").origin == .program && Set(CallCancelled.Origin.allCases).count == 4)
    }
}
