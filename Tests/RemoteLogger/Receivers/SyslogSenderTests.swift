import Foundation
import RemoteLogger
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct SyslogSenderTests {
    func shipper(_ receiver: TCPReceiver, _ configure: (inout ShippingSettings) -> Void = { _ in }) throws -> LogShipper {
        var address = SyslogReceiver(host: "127.0.0.1", port: receiver.port)
        // Long enough for a slow machine.
        address.resendWindow = .seconds(3_600)
        return try LogShipper(toSyslog: address, format: SyslogFormat(application: "shop")) { settings in
            settings.batch = BatchLimits(records: 20, interval: .milliseconds(5))
            settings.backoff = Backoff(base: .milliseconds(2), cap: .milliseconds(20))
            settings.reportsLosses = false
            configure(&settings)
        }
    }

    @Test func `frames arrive in order on one connection`() async throws {
        let receiver = try TCPReceiver()
        defer { receiver.stop() }
        let shipper = try shipper(receiver)
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        for number in 0..<500 { logger.info("m Ω \(number)\nsecond line", ["n": number]) }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        #expect(shipper.statistics.delivered == 500 && shipper.statistics.lastStatus == nil)
        #expect(await eventually { receiver.connections.first.map { TCPReceiver.frames(of: $0).messages.count == 500 } ?? false })
        let (messages, rest) = TCPReceiver.frames(of: receiver.connections[0])
        #expect(receiver.connections.count == 1 && rest == 0)
        #expect(TCPReceiver.numbers(of: receiver.connections[0]) == Array(0..<500))
        #expect(messages.allSatisfy { $0.hasSuffix("\nsecond line") && $0.contains("] \u{FEFF}m Ω ") })
    }

    @Test func `a connection that breaks loses nothing`() async throws {
        // Each connection is reset at some point, with unread bytes.
        let receiver = try TCPReceiver { connection, bytes in connection < 6 && bytes > 4_000 * (connection + 1) ? .reset : .read }
        defer { receiver.stop() }
        let shipper = try shipper(receiver)
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        for number in 0..<600 {
            logger.info("m", ["n": number])
            if number % 20 == 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
        // TCP reports a reset only when more is sent, so this sends until the stable connection exists.
        for _ in 0..<10_000 where receiver.connections.count < 7 {
            logger.info("more")
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        try #require(receiver.connections.count == 7)
        let last = { receiver.connections[6] }
        let all = { Set(TCPReceiver.numbers(of: last())) }
        // The first condition avoids evaluating the second, which is expensive, too often.
        #expect(
            await eventually { last().count >= 600 * 50 && all().count == 600 }, "\(Set(0..<600).subtracting(all()).sorted().prefix(20))")
    }

    @Test func `a receiver that reads nothing is waited for, and the shutdown keeps its limit`() async throws {
        let receiver = try TCPReceiver { _, _ in .stall }
        defer { receiver.stop() }
        let shipper = try shipper(receiver) { $0.timeout = .seconds(600) }
        let logger = RemoteLogger(label: "shop", sinks: [shipper])
        for number in 0..<20_000 { logger.info(String(repeating: "x", count: 500), ["n": number]) }
        #expect(await logger.shutdown(within: .milliseconds(300)) == false)
        let counts = shipper.statistics
        #expect(counts.emitted == counts.delivered + counts.droppedInAll && counts.dropped[.shutdown] ?? 0 > 0)
    }

    @Test func `a receiver that isn't there is tried again until it is`() async throws {
        let events = Locked<[String]>([])
        let port = try LoopbackPort(.closed)
        let address = SyslogReceiver(host: "127.0.0.1", port: port.number)
        let shipper = try LogShipper(toSyslog: address, format: SyslogFormat(application: "a")) { settings in
            settings.backoff = Backoff(base: .milliseconds(2), cap: .milliseconds(20))
            settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
        }
        shipper.write(.sample())
        #expect(await shipper.flush(within: .milliseconds(200)) == false)
        #expect(await eventually { events.withLock { $0.contains { $0.contains("syslog+tcp://127.0.0.1:\(port.number)") } } })
        #expect(shipper.statistics.buffered == 1)
        withExtendedLifetime(port) {}
        #expect(throws: LogShipperError.self) { try LogShipper(toSyslog: SyslogReceiver(host: ""), format: SyslogFormat(application: "a")) }
    }
}
