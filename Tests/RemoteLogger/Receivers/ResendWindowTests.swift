import Foundation
import Testing

@testable import RemoteLogger

@Suite struct ResendWindowTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `what was sent again on five connections, each of which broke, leaves`() {
        var window = ResendWindow(length: .seconds(5), maximumBytes: 1_000)
        window.append(Data("a".utf8), at: 0)
        for repeats in 1...5 {
            #expect(window.bodies.first == Data("a".utf8))
            window.renew(at: UInt64(repeats) * Self.second)
            if repeats == 3 { window.append(Data("b".utf8), at: 3 * Self.second) }
        }
        #expect(window.bodies == [Data("b".utf8)])
        for time in 6...7 { window.renew(at: UInt64(time) * Self.second) }
        #expect(window.isEmpty && window.timeLeft(at: 7 * Self.second) == nil)
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
