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

/// TCP receivers that close, stall, are slow, or send instead of reading.
extension SyslogSenderTests {
    /// Returns the numbers in the order of their first occurrence.
    private static func firsts(_ numbers: [Int]) -> [Int] {
        var seen: Set<Int> = []
        return numbers.filter { seen.insert($0).inserted }
    }

    @Test(arguments: [TCPReceiver.Action.close, .reset, .halfClose])
    func `a receiver that ends its first connections before it has read gets everything on a later one`(action: TCPReceiver.Action)
        async throws
    {
        let receiver = try TCPReceiver { connection, _ in connection < 4 ? action : .read }
        defer { receiver.stop() }
        let shipper = try shipper(receiver)
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        for number in 0..<200 { logger.info("m", ["n": number]) }
        // TCP reports an end only when more is sent.
        for _ in 0..<10_000 where receiver.connections.count < 5 {
            logger.info("more")
            Harness.expectConservation(of: shipper)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        Harness.expectConservation(of: shipper)
        #expect(shipper.statistics.delivered == shipper.statistics.emitted)
        try #require(receiver.connections.count == 5)
        #expect(await eventually { Self.firsts(TCPReceiver.numbers(of: receiver.connections[4])) == Array(0..<200) })
    }

    @Test(arguments: [TCPReceiver.Action.close, .reset, .halfClose]) func `a receiver that ends every connection keeps nobody waiting`(
        action: TCPReceiver.Action
    ) async throws {
        let receiver = try TCPReceiver { _, _ in action }
        defer { receiver.stop() }
        let shipper = try shipper(receiver) { $0.timeout = .seconds(600) }
        let start = ContinuousClock.now
        for number in 0..<200 {
            shipper.write(.sample(UInt64(number + 1), number % 3 == 0 ? .error : .info, "m\(number)"))
            if number % 50 == 49 { _ = await shipper.flush(within: .milliseconds(50)) }
            Harness.expectConservation(of: shipper)
        }
        await shipper.shutdown(within: .milliseconds(300))
        // Far less than the timeout, even on a slow machine.
        #expect(ContinuousClock.now - start < .seconds(300))
        Harness.expectConservation(of: shipper)
        #expect(shipper.statistics.buffered == 0 && shipper.statistics.emitted == 200)
        #expect(Set(shipper.statistics.dropped.keys).isSubset(of: [.shutdown]))
    }

    @Test func `a batch that breaks off within a frame is sent again from its first byte`() async throws {
        // Its system accepts only part of the data, and confirms no more.
        let receiver = try TCPReceiver(buffer: 4_096) { connection, bytes in connection < 3 && bytes > 9_000 ? .reset : .read }
        defer { receiver.stop() }
        let shipper = try shipper(receiver) { settings in
            settings.batch = BatchLimits(records: 400, interval: .milliseconds(5))
            settings.buffer.bytes = 16 << 20
        }
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        for number in 0..<400 { logger.info(String(repeating: "x", count: 20_000), ["n": number]) }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        Harness.expectConservation(of: shipper)
        let connections = receiver.connections
        try #require(connections.count == 4)
        for connection in connections[..<3] {
            #expect(TCPReceiver.frames(of: connection).rest > 0, "it broke off within a frame")
            #expect(connections[3].starts(with: connection), "the same bytes")
        }
        #expect(await eventually { TCPReceiver.numbers(of: receiver.connections[3]) == Array(0..<400) })
    }

    @Test func `what a receiver that reads nothing doesn't take stays in the spool, and flush and shutdown keep their limits`() async throws
    {
        let disk = MemoryDisk()
        let deaf = try TCPReceiver(buffer: 4_096) { _, _ in .stall }
        defer { deaf.stop() }
        let spool = Spool(root: "/spool", settings: SpoolSettings(), files: disk.files)
        let first = try shipper(deaf) { settings in
            settings.timeout = .seconds(600)
            settings.spool = spool
        }
        let logger = RemoteLogger(label: "shop", sinks: [first])
        for number in 0..<8_000 {
            logger.info(String(repeating: "x", count: 1_000), ["n": number])
            // Never more in memory than its limits allow.
            if number % 1_000 == 0 { _ = await spool.sync() }
        }
        let start = ContinuousClock.now
        #expect(await logger.flush(within: .milliseconds(200)) == false)
        Harness.expectConservation(of: first)
        #expect(await logger.shutdown(within: .milliseconds(300)) == false)
        #expect(ContinuousClock.now - start < .seconds(300))
        let left = first.statistics
        #expect(left.emitted == 8_000 && left.dropped.isEmpty && left.buffered > 0)
        #expect(left.emitted == left.delivered + left.buffered)
        // The next run finds exactly the remaining records.
        let receiver = try TCPReceiver()
        defer { receiver.stop() }
        let later = disk.afterKill()
        let second = try shipper(receiver) { $0.spool = Spool(root: "/spool", settings: SpoolSettings(), files: later.files) }
        #expect(await second.flush(within: .seconds(1_200)))
        // At least once: the first run's last deliveries may not be recorded on disk.
        let found = second.statistics.found
        #expect(found >= left.buffered && second.statistics.delivered == found, "\(found), \(left)")
        Harness.expectConservation(of: second)
        let expected = Array((8_000 - Int(found))..<8_000)
        #expect(await eventually { receiver.connections.first.map { TCPReceiver.numbers(of: $0) == expected } ?? false })
        await second.shutdown(within: .seconds(5))
    }

    @Test func `a receiver that is slow but reads on gets each batch in the end`() async throws {
        // A batch takes far longer than the timeout without progress.
        let looks = Locked(0)
        let receiver = try TCPReceiver(buffer: 4_096) { _, _ in
            looks.withLock { looks in
                looks += 1
                return looks % 5 == 0 ? .read : .stall
            }
        }
        defer { receiver.stop() }
        let shipper = try shipper(receiver) { settings in
            settings.timeout = .milliseconds(1_500)
            settings.batch = BatchLimits(records: 100, interval: .milliseconds(5))
        }
        let logger = RemoteLogger(label: "shop", sinks: [shipper])
        for number in 0..<100 { logger.info(String(repeating: "x", count: 1_000), ["n": number]) }
        #expect(await logger.flush(within: .seconds(1_200)))
        Harness.expectConservation(of: shipper)
        #expect(shipper.statistics.delivered == 100)
        await logger.shutdown(within: .zero)
    }

    @Test func `a receiver that talks is listened to, and gets everything`() async throws {
        let receiver = try TCPReceiver { _, _ in .chatter }
        defer { receiver.stop() }
        let shipper = try shipper(receiver)
        let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
        for number in 0..<2_000 { logger.info("m", ["n": number]) }
        #expect(await logger.shutdown(within: .seconds(1_200)))
        Harness.expectConservation(of: shipper)
        #expect(await eventually { receiver.connections.first.map { TCPReceiver.numbers(of: $0) } == Array(0..<2_000) })
        #expect(receiver.connections.count == 1)
    }
}
