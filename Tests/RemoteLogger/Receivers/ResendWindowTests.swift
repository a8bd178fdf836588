import Foundation
import Testing

@testable import RemoteLogger

@Suite struct ResendWindowTests {
    private static let second: UInt64 = 1_000_000_000

    @Test(arguments: [(true, 5), (false, 20)])
    func `what was sent again on many connections, each of which broke, leaves`(isQuiet: Bool, times: Int) {
        var window = ResendWindow(length: .seconds(5), maximumBytes: 1_000)
        window.append(Data("a".utf8), at: 0)
        window.append(Data("b".utf8), at: 0)
        for time in 1...times {
            #expect(window.bodies.first == Data("a".utf8))
            window.renew(at: UInt64(time) * Self.second, isQuiet: isQuiet)
            if time == 1 { window.append(Data("c".utf8), at: Self.second) }
        }
        #expect(window.bodies == [Data("c".utf8)])
        window.renew(at: 30 * Self.second, isQuiet: isQuiet)
        #expect(window.isEmpty && window.timeLeft(at: 30 * Self.second) == nil)
    }

    @Test func `what has stood the window leaves, and the oldest where it is full`() {
        var window = ResendWindow(length: .seconds(5), maximumBytes: 3)
        for text in ["aa", "b", "c"] { window.append(Data(text.utf8), at: Self.second) }
        #expect(window.bodies == [Data("b".utf8), Data("c".utf8)])
        #expect(window.timeLeft(at: 3 * Self.second) == .seconds(3))
        window.noteLife(at: 5 * Self.second)
        #expect(!window.isEmpty)
        window.noteLife(at: 6 * Self.second)
        #expect(window.isEmpty)
    }
}
