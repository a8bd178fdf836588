import Foundation
import RemoteLogger
import Testing
import WebServiceClient

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
