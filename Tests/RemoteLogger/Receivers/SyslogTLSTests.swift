import Foundation
import RemoteLogger
import Testing
import WebServiceClient

@Suite(.serialized, .enabled("openssl, or python3 with its module ssl, isn't there") { await TLSReceiver.isPossible() })
struct SyslogTLSTests {
    /// Creates the certificates, and removes them afterwards.
    func withCertificates(_ body: (TLSCertificates) async throws -> Void) async throws {
        let certificates = try await TLSCertificates.make()
        defer { certificates.remove() }
        try await body(certificates)
    }

    func shipper(
        _ receiver: TLSReceiver, _ trust: TrustPolicy, host: String = "127.0.0.1", events: Locked<[String]> = Locked([]),
        _ configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws -> LogShipper {
        var address = SyslogReceiver.tls(host: host, port: receiver.port)
        // Long enough for a slow machine.
        address.resendWindow = .seconds(3_600)
        return try LogShipper(toSyslog: address, format: SyslogFormat(application: "shop")) { settings in
            settings.trust = trust
            settings.timeout = .seconds(60)
            settings.batch = BatchLimits(records: 20, interval: .milliseconds(5))
            settings.backoff = Backoff(base: .milliseconds(2), cap: .milliseconds(20))
            settings.reportsLosses = false
            settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } }
            configure(&settings)
        }
    }

    /// Writes more than the systems on both sides buffer for a connection.
    func fill(_ shipper: LogShipper) {
        let message = String(repeating: "x", count: 500)
        for number in 0..<20_000 as Range<UInt64> {
            shipper.write(LogRecord(id: LogRecordID(high: 1, low: number), sequence: number, time: 1, level: .info, message: message))
        }
    }

    @Test(arguments: ["", "1.2", "1.3"]) func `frames arrive in order on one connection`(version: String) async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, version: version)
            defer { receiver.stop() }
            let shipper = try shipper(receiver, try certificates.trust(), host: "localhost")
            let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
            for number in 0..<500 { logger.info("m Ω \(number)\nsecond line", ["n": number]) }
            // More than one TLS record.
            logger.info(String(repeating: "x", count: 7_000), ["n": 500])
            #expect(await logger.shutdown(within: .seconds(1_200)))
            #expect(shipper.statistics.delivered == 501 && shipper.statistics.lastStatus == nil)
            #expect(await eventually { receiver.connections.first.map { TCPReceiver.numbers(of: $0) } == Array(0...500) })
            #expect(receiver.connections.count == 1)
            // RFC 5425 §4.4.
            #expect(await eventually { receiver.endedInOrder(0) == true })
        }
    }

    @Test(arguments: [TLSReceiver.Script.close, .reset]) func `a connection that ends loses nothing`(script: TLSReceiver.Script)
        async throws
    {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, script)
            defer { receiver.stop() }
            let shipper = try shipper(receiver, try certificates.trust())
            let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
            for number in 0..<600 { logger.info("m", ["n": number]) }
            // TCP reports a reset only when more is sent, so this sends until the stable connection exists.
            for _ in 0..<10_000 where receiver.connections.count < 7 {
                logger.info("more")
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(await logger.shutdown(within: .seconds(1_200)))
            try #require(receiver.connections.count >= 7)
            #expect(
                await eventually { Set(receiver.connections.flatMap { TCPReceiver.numbers(of: $0) }).isSuperset(of: 0..<600) },
                "\(Set(0..<600).subtracting(receiver.connections.flatMap { TCPReceiver.numbers(of: $0) }).sorted().prefix(20))")
        }
    }

    @Test(arguments: [
        ("other", "127.0.0.1", "server", "No trusted authority"), ("root", "127.0.0.1", "elsewhere", "for other hosts"),
    ])
    func `a receiver that isn't trusted gets nothing`(authority: String, host: String, server: String, words: String) async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, server: server)
            defer { receiver.stop() }
            let events = Locked<[String]>([])
            let shipper = try shipper(receiver, try certificates.trust(authority), host: host, events: events)
            shipper.write(.sample())
            #expect(await eventually { events.withLock { $0.contains { $0.contains(words) } } }, "\(events.withLock { $0 })")
            #expect(shipper.statistics.buffered == 1 && shipper.statistics.delivered == 0)
            #expect(!receiver.connections.contains { !$0.isEmpty })
            #expect(await shipper.shutdown(within: .milliseconds(10)) == false)
        }
    }

    @Test func `pins are kept`() async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates)
            defer { receiver.stop() }
            var trust = try certificates.trust()
            trust.pins["localhost"] = [.publicKey(sha256: try certificates.certificate("client").publicKeyPin)]
            let events = Locked<[String]>([])
            let refusing = try shipper(receiver, trust, host: "localhost", events: events)
            refusing.write(.sample())
            #expect(await eventually { events.withLock { $0.contains { $0.contains("pin") } } }, "\(events.withLock { $0 })")
            #expect(refusing.statistics.delivered == 0 && !receiver.connections.contains { !$0.isEmpty })
            trust.pins["localhost"] = [.publicKey(sha256: try certificates.certificate("server").publicKeyPin)]
            let pinned = try shipper(receiver, trust, host: "localhost")
            pinned.write(.sample())
            #expect(await pinned.shutdown(within: .seconds(1_200)))
            #expect(await refusing.shutdown(within: .milliseconds(10)) == false)
        }
    }

    @Test(arguments: ["1.2", "1.3"]) func `a receiver that wants to know who it is gets nothing from strangers`(version: String)
        async throws
    {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, asksForClient: true, version: version)
            defer { receiver.stop() }
            let events = Locked<[String]>([])
            let stranger = try shipper(receiver, try certificates.trust(), events: events)
            stranger.write(.sample())
            #expect(await eventually { events.withLock { !$0.isEmpty } })
            #expect(stranger.statistics.delivered == 0 && stranger.statistics.buffered == 1)
            // In TLS 1.3 the server refuses a client after the client's handshake has ended, and may close the connection before its alert
            // arrives.
            if version == "1.2" {
                #expect(events.withLock { $0.contains { $0.contains("client certificate") } }, "\(events.withLock { $0 })")
            }
            let client = try shipper(receiver, try certificates.trust(asClient: true))
            client.write(.sample())
            #expect(await client.shutdown(within: .seconds(1_200)))
            #expect(await stranger.shutdown(within: .milliseconds(10)) == false)
        }
    }

    @Test(arguments: [TLSReceiver.Script.stall, .deaf]) func `a receiver that stands still is waited for, and the shutdown keeps its limit`(
        script: TLSReceiver.Script
    ) async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, script)
            defer { receiver.stop() }
            let shipper = try shipper(receiver, try certificates.trust()) { $0.timeout = .seconds(600) }
            fill(shipper)
            let start = ContinuousClock.now
            #expect(await shipper.shutdown(within: .milliseconds(300)) == false)
            // Far less than the timeout, even on a slow machine.
            #expect(ContinuousClock.now - start < .seconds(300))
            let counts = shipper.statistics
            #expect(counts.emitted == counts.delivered + counts.droppedInAll && counts.dropped[.shutdown] ?? 0 > 0)
        }
    }

    @Test(arguments: [TLSReceiver.Script.stall, .deaf, .plain]) func `what doesn't answer is given up in time`(script: TLSReceiver.Script)
        async throws
    {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, script)
            defer { receiver.stop() }
            let events = Locked<[String]>([])
            let shipper = try shipper(receiver, try certificates.trust(), events: events) { $0.timeout = .milliseconds(300) }
            fill(shipper)
            #expect(await eventually { events.withLock { !$0.isEmpty } })
            // The shipper has reconnected.
            #expect(await eventually { receiver.connections.count > 1 })
            #expect(await shipper.shutdown(within: .milliseconds(10)) == false)
        }
    }

    @Test func `what can't be used is refused at once`() throws {
        let format = SyslogFormat(application: "a")
        for host in ["", "a/b", "a?b", "a#b", "user@host", "a b", "a:b"] {
            #expect(throws: LogShipperError.self, "\(host)") { try LogShipper(toSyslog: .tls(host: host), format: format) }
        }
        #expect(throws: LogShipperError.self) {
            try LogShipper(toSyslog: .tls(host: "localhost"), format: format) { $0.trust = TrustPolicy(authorities: .only([])) }
        }
    }

    @Test func `receivers are named by URLs`() throws {
        func receiver(_ text: String) throws -> SyslogReceiver { try SyslogReceiver(try #require(URL(string: text))) }
        #expect(try receiver("syslog+tls://logs.example") == .tls(host: "logs.example", port: 6514))
        #expect(try receiver("syslog+tcp://logs.example/") == SyslogReceiver(host: "logs.example", port: 601))
        #expect(try receiver("SYSLOG+TLS://[::1]:99") == .tls(host: "::1", port: 99))
        #expect(try receiver("syslog+tls://[::1]:99").description == "syslog+tls://[::1]:99")
        for text in [
            "syslog://a", "https://a", "syslog+tls:a", "syslog+tls://a:0", "syslog+tls://a:70000", "syslog+tls://a/b", "syslog+tls://u@a",
            "syslog+tcp://a?b", "syslog+tcp://a#b", "syslog+tls://",
        ] {
            #expect(throws: LogShipperError.self, "\(text)") { try receiver(text) }
        }
    }
}

/// TLS connections that end where TLS doesn't allow it.
extension SyslogTLSTests {
    @Test(arguments: ["1.2", "1.3"], [TLSReceiver.Script.cut, .abort]) func `a handshake that breaks off anywhere is made again`(
        version: String, script: TLSReceiver.Script
    ) async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, script, version: version)
            defer { receiver.stop() }
            let events = Locked<[String]>([])
            let shipper = try shipper(receiver, try certificates.trust(), events: events)
            let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
            for number in 0..<100 { logger.info("m", ["n": number]) }
            #expect(await logger.shutdown(within: .seconds(1_200)))
            Harness.expectConservation(of: shipper)
            #expect(shipper.statistics.delivered == 100 && shipper.statistics.repeats >= 6)
            #expect(await eventually { receiver.connections.last.map { TCPReceiver.numbers(of: $0) } == Array(0..<100) })
            let says = events.withLock { $0 }
            #expect(says.count == 2 && says.last?.contains("accepts log records again") == true, "\(says)")
        }
    }

    @Test(arguments: ["1.2", "1.3"]) func `a connection that is torn within a frame loses nothing`(version: String) async throws {
        try await withCertificates { certificates in
            let receiver = try await TLSReceiver(certificates, .tear, version: version)
            defer { receiver.stop() }
            let shipper = try shipper(receiver, try certificates.trust())
            let logger = RemoteLogger(label: "shop.orders", sinks: [shipper])
            for number in 0..<600 { logger.info("m", ["n": number]) }
            // TCP reports an end only when more is sent, so this sends until the stable connection exists.
            for _ in 0..<10_000 where receiver.connections.count < 7 {
                logger.info("more")
                Harness.expectConservation(of: shipper)
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(await logger.shutdown(within: .seconds(1_200)))
            Harness.expectConservation(of: shipper)
            #expect(shipper.statistics.delivered == shipper.statistics.emitted)
            #expect(receiver.connections.prefix(6).contains { TCPReceiver.frames(of: $0).rest > 0 }, "some break off within a frame")
            #expect(await eventually { Set(TCPReceiver.numbers(of: receiver.connections.last ?? [])).isSuperset(of: 0..<600) })
        }
    }

    @Test(arguments: [TLSReceiver.Script.stall, .deaf]) func `what a receiver that stands still doesn't take stays in the spool`(
        script: TLSReceiver.Script
    ) async throws {
        try await withCertificates { certificates in
            let spool = Spool(root: "/spool", settings: SpoolSettings(), files: MemoryDisk().files)
            let receiver = try await TLSReceiver(certificates, script)
            defer { receiver.stop() }
            let shipper = try shipper(receiver, try certificates.trust()) { settings in
                settings.timeout = .seconds(600)
                settings.spool = spool
            }
            for number in 0..<12_000 as Range<UInt64> {
                shipper.write(.sample(number + 1, .info, String(repeating: "x", count: 1_000)))
                // Never more in memory than its limits allow.
                if number % 1_000 == 0 { _ = await spool.sync() }
            }
            let start = ContinuousClock.now
            #expect(await shipper.flush(within: .milliseconds(100)) == false)
            #expect(await shipper.shutdown(within: .milliseconds(300)) == false)
            #expect(ContinuousClock.now - start < .seconds(300))
            Harness.expectConservation(of: shipper)
            #expect(shipper.statistics.dropped.isEmpty && shipper.statistics.buffered > 0)
        }
    }
}
