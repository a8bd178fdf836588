import Testing

@testable import HTTPTransport

struct CurlLingeringTests {
    /// How many exchanges pass before the next one for which it stays awake.
    private func pause(_ lingering: inout CurlLingering) -> Int {
        for count in 0...CurlLingering.longestPause where lingering.begins() { return count }
        return .max
    }

    @Test func `it stays awake for each exchange while answers come in time`() {
        var lingering = CurlLingering()
        for _ in 0..<5 {
            #expect(pause(&lingering) == 0)
            lingering.ended(inTime: true)
        }
    }

    @Test func `in vain, twice as many exchanges pass each time, up to a bound`() {
        var lingering = CurlLingering()
        let pauses = (0..<12).map { _ in
            lingering.ended(inTime: false)
            return pause(&lingering)
        }
        #expect(pauses == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024])
        lingering.ended(inTime: true)
        #expect(pause(&lingering) == 0)
        lingering.ended(inTime: false)
        #expect(pause(&lingering) == 2)
    }

    @Test func `somebody who comes in between says nothing of the answers`() {
        var lingering = CurlLingering()
        lingering.ended(inTime: false)
        #expect(pause(&lingering) == 2)
        #expect(pause(&lingering) == 0)
    }
}
