import Testing

@testable import RemoteLogger

@Suite struct AcknowledgementTrackerTests {
    @Test func `one question asks for all tickets, and a yes is kept for who asks later`() {
        var book = AcknowledgementTracker()
        #expect(book.step(for: "1", now: 0, interval: 100) == .ask(["1"]))
        #expect(book.step(for: "2", now: 10, interval: 100) == .ask(["1", "2"]), "not asked for yet")
        #expect(book.step(for: "1", now: 20, interval: 100) == .notYet)
        book.note(["1", "2"], askedFor: "2", now: 30)
        #expect(book.step(for: "1", now: 40, interval: 100) == .acknowledged)
        #expect(book.step(for: "1", now: 200, interval: 100) == .ask(["1"]), "a ticket of that name that comes later")
    }

    @Test func `who has given up is asked for no more`() {
        var book = AcknowledgementTracker()
        #expect(book.step(for: "1", now: 0, interval: 1_000_000_000) == .ask(["1"]))
        book.note(["9"], askedFor: "1", now: 0)
        #expect(book.step(for: "2", now: 9_000_000_000, interval: 1_000_000_000) == .ask(["1", "2"]))
        #expect(book.step(for: "2", now: 11_000_000_000, interval: 1_000_000_000) == .ask(["2"]))
        #expect(book.step(for: "9", now: 11_000_000_000, interval: 1_000_000_000) == .ask(["2", "9"]))
        #expect(book.step(for: "3", now: 11_000_000_000, interval: .max) == .ask(["2", "3", "9"]))
    }
}
