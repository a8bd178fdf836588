import Foundation
import Testing

@testable import WebServiceClient

@Suite struct NetlinkDumpTests {
    private typealias Bytes = NetlinkMessageTests.Bytes

    /// Answers the requests of a dump, and notes its steps.
    private struct Kernel {
        var dump = NetlinkDump(number: 100)
        var links: [[UInt8]] = [Bytes.link(1, 0x49), Bytes.link(3, 0x1043)]
        var addresses: [[UInt8]] = [Bytes.address(1, scope: 254), Bytes.address(3)]
        var routes: [[UInt8]] = [Bytes.route(bits: 24, link: 3), Bytes.route(link: 3)]
        /// Whether a dump is marked as interrupted.
        var isInterrupted = false
        /// Sent before the end of the answer to a request.
        var between: [UInt8] = []

        /// Performs a dump.
        ///
        /// - Returns: The steps that aren't requests.
        mutating func run() -> [NetlinkDump.Step] {
            var steps = [dump.begin()]
            var others: [NetlinkDump.Step] = []
            while let step = steps.popLast() {
                guard case .request(let kind, let number) = step else {
                    others.append(step)
                    continue
                }
                steps += dump.receive(answer(kind, number))
            }
            return others.reversed()
        }

        private func answer(_ kind: NetlinkMessage.Kind, _ number: UInt32) -> [UInt8] {
            let flags: UInt16 = isInterrupted ? 0x12 : 2
            let bodies =
                switch kind {
                case .link: links
                case .address: addresses
                default: routes
                }
            return bodies.flatMap { Bytes.message(kind.rawValue, $0, number: number, flags: flags) } + between
                + Bytes.message(3, Bytes.done, number: number, flags: flags)
        }

        /// The evidence of a dump that is reported at once.
        mutating func evidence() -> NetworkStatus.Evidence? {
            let steps = run()
            guard steps.count == 1, case .report(let table)? = steps.first else { return nil }
            return table.status(at: Date()).evidence
        }
    }

    /// A change that another process has caused.
    private static let change = Bytes.message(17, Bytes.link(3, 0), number: 7_000)

    @Test func `links, addresses and routes are asked for in turn, and give a status`() {
        var kernel = Kernel()
        guard case .report(let table)? = kernel.run().first else {
            Issue.record("no report")
            return
        }
        let status = table.status(at: Date())
        #expect(status.evidence == .defaultRoute && status.hasIPv4 && !status.hasIPv6)
        #expect(status.description == "online: a default route for IPv4")
        #expect(table.links.count == 2 && table.addresses.count == 2 && table.routes.count == 1)
    }

    @Test func `each kind of evidence needs the ones before it`() {
        var kernel = Kernel()
        kernel.routes = [Bytes.route(bits: 24, link: 3)]
        #expect(kernel.evidence() == .noRoute)
        kernel.routes = [Bytes.route(family: 10, link: 3)]
        #expect(kernel.evidence() == .noRoute, "an IPv6 route without an address")
        kernel.routes = [Bytes.route(link: 9)]
        #expect(kernel.evidence() == .noRoute, "over an interface that isn't there")
        kernel.routes = [Bytes.route(link: 3)]
        kernel.addresses = [Bytes.address(3, family: 10), Bytes.address(3, scope: 253)]
        #expect(kernel.evidence() == .noRoute, "an IPv4 route with a link-local address only")
        kernel.addresses = [Bytes.address(3, family: 10, flags: 0x40)]
        #expect(kernel.evidence() == .noAddress, "a tentative one")
        kernel.addresses = [Bytes.address(1)]
        #expect(kernel.evidence() == .noAddress, "of the loopback")
        kernel.links = [Bytes.link(1, 0x49), Bytes.link(3, 0x1003)]
        #expect(kernel.evidence() == .noLink, "without a carrier")
        kernel.links = []
        #expect(kernel.evidence() == .noLink)
    }

    @Test func `a change causes another dump, once for several`() {
        var kernel = Kernel()
        _ = kernel.run()
        #expect(kernel.dump.receive(Self.change + Self.change) == [.restart])
        #expect(kernel.dump.receive(Self.change).isEmpty, "the restart is due already")
        #expect(kernel.evidence() == .defaultRoute)
        #expect(kernel.dump.receive(Self.change) == [.restart])
    }

    @Test func `a dump that a change spoils is repeated, but not for ever`() {
        for isInterrupted in [false, true] {
            var kernel = Kernel()
            if isInterrupted { kernel.isInterrupted = true } else { kernel.between = Self.change }
            for _ in 0..<NetlinkDump.patience { #expect(kernel.run() == [.restart]) }
            let steps = kernel.run()
            #expect(steps.count == 2 && steps.last == .restart)
            guard case .report? = steps.first else {
                Issue.record("no report after \(NetlinkDump.patience) dumps")
                continue
            }
            (kernel.isInterrupted, kernel.between) = (false, [])
            #expect(kernel.evidence() == .defaultRoute)
        }
    }

    @Test func `lost and broken messages cause another dump`() {
        var kernel = Kernel()
        _ = kernel.dump.begin()
        #expect(kernel.dump.loses() == [.restart])
        #expect(kernel.dump.loses().isEmpty)
        _ = kernel.dump.begin()
        #expect(kernel.dump.receive(Bytes.message(4, [])) == [.restart])
        _ = kernel.dump.begin()
        #expect(kernel.dump.receive([1, 2, 3]) == [.restart])
        // The rest of the lost dump isn't taken for a part of the next one.
        guard case .request(_, let number) = kernel.dump.begin() else { return }
        #expect(kernel.dump.receive(Bytes.message(16, Bytes.link(5, 0x1043), number: number &- 1, flags: 2)).isEmpty)
        #expect(kernel.evidence() == .defaultRoute)
    }

    @Test func `a refusal is reported, and a busy socket is asked again`() {
        var dump = NetlinkDump(number: 5)
        #expect(dump.begin() == .request(.link, number: 6))
        #expect(dump.receive(Bytes.message(2, Bytes.number(Int32(-1)), number: 6)) == [.refused(1)])
        #expect(dump.begin() == .request(.link, number: 7))
        #expect(dump.receive(Bytes.message(2, Bytes.number(Int32(-16)), number: 7)) == [.restart])
        #expect(dump.receive(Bytes.message(2, Bytes.number(Int32(-1)), number: 99)).isEmpty, "the answer to another process")
        // The numbers wrap around.
        var last = NetlinkDump(number: .max)
        #expect(last.begin() == .request(.link, number: 0))
    }
}
