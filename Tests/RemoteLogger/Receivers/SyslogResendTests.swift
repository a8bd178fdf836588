import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Messages that are resent over syslog after a lost connection, with the default window.
@Suite struct SyslogResendTests {
    private func shipper(_ receiver: TCPReceiver, _ clock: ManualLogClock) throws -> LogShipper {
        let address = SyslogReceiver(host: "127.0.0.1", port: receiver.port)
        #expect(address.resendWindow == .seconds(5))
        return try LogShipper(toSyslog: address, format: SyslogFormat(application: "shop")) { settings in
            settings.batch = BatchLimits(records: 1)
            settings.backoff = Backoff(base: .milliseconds(100), cap: .milliseconds(100))
            settings.reportsLosses = false
            settings.clock = clock
        }
    }

    /// Returns a receiver that resets its first connection from some moment on, and forgets its bytes.
    private func receiver(_ breaks: Locked<Bool>) throws -> TCPReceiver {
        try TCPReceiver { connection, _ in connection == 0 && breaks.withLock { $0 } ? .reset : .read }
    }

    private static func texts(_ bytes: [UInt8]) -> [String] {
        TCPReceiver.frames(of: bytes).messages.compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    /// Sends a message, and advances the clock until it counts as delivered.
    private func send(_ text: String, _ shipper: LogShipper, _ clock: ManualLogClock) async {
        let before = shipper.statistics.delivered
        shipper.write(.sample(1, .info, text))
        #expect(await clock.run(step: .milliseconds(10)) { shipper.statistics.delivered == before + 1 })
    }

    @Test func `a receiver that is away for longer than the window loses nothing`() async throws {
        let breaks = Locked(false)
        let receiver = try receiver(breaks)
        defer { receiver.stop() }
        let clock = ManualLogClock()
        let shipper = try shipper(receiver, clock)
        await send("one", shipper, clock)
        clock.advance(by: .seconds(2))
        await send("two", shipper, clock)
        breaks.withLock { $0 = true }
        // The receiver resets the connection when more data arrives, which is lost; or the end is noticed before.
        shipper.write(.sample(3, .info, "three"))
        // A connection that outlives the window loses nothing.
        #expect(await eventually { receiver.closed == 1 })
        clock.advance(by: .seconds(3_600))
        shipper.write(.sample(4, .info, "four"))
        let all: Set<String> = ["one", "two", "three", "four"]
        #expect(
            await clock.run {
                // One at a time: too many would take the place of the first ones.
                let counts = shipper.statistics
                if receiver.connections.count < 2, counts.delivered == counts.emitted { shipper.write(.sample(5, .info, "more")) }
                return receiver.connections.count > 1 && Set(Self.texts(receiver.connections[1])).isSuperset(of: all)
            })
        await shipper.shutdown(within: .zero)
    }

    @Test func `what stood the window on a connection that lives isn't sent again`() async throws {
        let breaks = Locked(false)
        let receiver = try receiver(breaks)
        defer { receiver.stop() }
        let clock = ManualLogClock()
        let shipper = try shipper(receiver, clock)
        await send("one", shipper, clock)
        // The window ends, and the next message proves that the connection is alive.
        clock.advance(by: .seconds(6))
        await send("between", shipper, clock)
        breaks.withLock { $0 = true }
        #expect(
            await clock.run {
                if receiver.connections.count < 2 { shipper.write(.sample(2, .info, "two")) }
                return receiver.connections.count > 1 && Self.texts(receiver.connections[1]).contains("two")
            })
        #expect(!Self.texts(receiver.connections[1]).contains("one"))
        await shipper.shutdown(within: .zero)
    }

    @Test func `what may be lost is sent again, though nothing more is logged`() async throws {
        let breaks = Locked(false)
        let receiver = try TCPReceiver { connection, _ in connection < 4 && breaks.withLock { $0 } ? .close : .read }
        defer { receiver.stop() }
        let clock = ManualLogClock()
        let shipper = try shipper(receiver, clock)
        await send("one", shipper, clock)
        await send("two", shipper, clock)
        breaks.withLock { $0 = true }
        #expect(await eventually { receiver.closed == 1 })
        // The clock doesn't advance while a connection is open: a connection that outlives the window would count as alive.
        var (advanced, seen): (ContinuousClock.Instant?, Int) = (nil, 0)
        #expect(
            await eventually {
                let connections = receiver.connections
                if connections.count == 5 { return Self.texts(connections[4]) == ["one", "two"] }
                guard receiver.closed == connections.count, let wake = clock.nextWake else { return false }
                // The system may have accepted a connection that the receiver hasn't seen yet.
                if let advanced, ContinuousClock.now - advanced < .seconds(1), seen == connections.count { return false }
                (advanced, seen) = (.now, connections.count)
                clock.advance(by: wake)
                return false
            })
        let counts = shipper.statistics
        #expect(counts.emitted == 2 && counts.delivered == 2 && counts.requests == 2)
        // The connection is alive, and nothing is left to resend.
        clock.advance(by: .seconds(6))
        await settle()
        #expect(receiver.connections.count == 5)
        #expect(await shipper.shutdown(within: .seconds(5)))
    }
}
