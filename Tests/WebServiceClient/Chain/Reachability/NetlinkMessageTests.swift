import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct NetlinkMessageTests {
    /// Bytes of the kernel's messages, in the machine's byte order.
    enum Bytes {
        static func number(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

        static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            let bytes = number(UInt16(4 + value.count)) + number(type) + value
            return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }

        static func message(_ type: UInt16, _ body: [UInt8], number sequence: UInt32 = 0, flags: UInt16 = 0) -> [UInt8] {
            let header = number(UInt32(16 + body.count)) + number(type) + number(flags) + number(sequence) + number(UInt32(0))
            let bytes = header + body
            return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }

        static func link(_ index: Int32, _ flags: UInt32) -> [UInt8] {
            [0, 0, 1, 0] + number(index) + number(flags) + number(UInt32.max) + attribute(3, Array("eth0".utf8) + [0])
        }

        static func address(_ link: UInt32, family: UInt8 = 2, scope: UInt8 = 0, flags: UInt8 = 0, all: UInt32? = nil) -> [UInt8] {
            let header = [family, 24, flags, scope] + number(link)
            return header + attribute(1, [192, 0, 2, 5]) + (all.map { attribute(8, number($0)) } ?? [])
        }

        static func route(
            family: UInt8 = 2, bits: UInt8 = 0, type: UInt8 = 1, flags: UInt32 = 0, link: UInt32? = nil,
            hops: [(link: UInt32, flags: UInt8)] = []
        ) -> [UInt8] {
            let header = [family, bits, 0, 0, 254, 3, 0, type] + number(flags)
            let next = hops.flatMap { number(UInt16(16)) + [$0.flags, 0] + number($0.link) + attribute(5, [192, 0, 2, 1]) }
            return header + attribute(15, number(UInt32(254))) + (link.map { attribute(4, number($0)) } ?? [])
                + (hops.isEmpty ? [] : attribute(9, next))
        }

        static let done = number(Int32(0))
    }

    /// The two addresses of a machine's loopback, as the kernel of an x86-64 sent them, and its default route by an interface with number
    /// 3.
    static let recordedAddresses = """
        4c0000001400020002000000605c0000020880fe01000000080001007f000001080002007f000001070003006c6f0000080008008000000014000600ffffffff\
        ffffffff79bc450079bc4500500000001400020002000000605c00000a8080fe01000000140001000000000000000000000000000000000114000600ffffffff\
        ffffffff79bc450079bc4500080008008000000005000b0001000000
        """
    static let recordedRoute = "3400000018000200030000002b5c000002000000fe0300010000000008000f00fe00000008000500c00002010800040003000000"

    static func bytes(_ text: String) -> [UInt8] {
        var digits = text[...]
        var bytes: [UInt8] = []
        while !digits.isEmpty {
            bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
            digits = digits.dropFirst(2)
        }
        return bytes
    }

    private func only(_ type: UInt16, _ body: [UInt8]) throws -> NetlinkMessage.Content {
        let (messages, isComplete) = NetlinkMessage.all(in: Bytes.message(type, body))
        #expect(isComplete && messages.count == 1)
        return try #require(messages.first).content
    }

    #if _endian(little)
    @Test func `recorded messages are read`() {
        let (messages, isComplete) = NetlinkMessage.all(in: Self.bytes(Self.recordedAddresses))
        #expect(isComplete && messages.count == 2)
        #expect(messages.allSatisfy { $0.number == 2 && $0.isPart && !$0.isInterrupted })
        #expect(
            messages.map(\.content) == [
                .address(.init(isVersion6: false, scope: 254, flags: 0x80, link: 1)),
                .address(.init(isVersion6: true, scope: 254, flags: 0x80, link: 1)),
            ])
        let route = NetlinkMessage.all(in: Self.bytes(Self.recordedRoute)).messages
        #expect(
            route.map(\.content) == [
                .route(.init(isVersion6: false, bits: 0, isUnicast: true, links: [3], isDead: false))
            ])
    }
    #endif

    @Test(arguments: [(0x1043, true), (0x1003, false), (0x1002, false), (0x1042, false), (0x49, false), (0, false)] as [(UInt32, Bool)])
    func `a link is usable if it is up, runs, and isn't the loopback`(flags: UInt32, isUsable: Bool) throws {
        #expect(try only(16, Bytes.link(7, flags)) == .link(.init(index: 7, flags: flags)))
        #expect(NetlinkMessage.Link(index: 7, flags: flags).isUsable == isUsable)
    }

    @Test(
        arguments: [
            (0, 0, nil, true), (0, 0x80, nil, true), (253, 0, nil, false), (254, 0, nil, false), (200, 0, nil, true), (0, 0x40, nil, false),
            (0, 0x08, nil, false), (0, 0x44, nil, true), (0, 0x4C, nil, false), (0, 0, 0x40, false), (0, 0x40, 0x80, true),
        ] as [(UInt8, UInt8, UInt32?, Bool)])
    func `an address is usable beyond its link, and once no other machine has it`(
        scope: UInt8, flags: UInt8, all: UInt32?, isUsable: Bool
    ) throws {
        guard case .address(let address) = try only(20, Bytes.address(3, family: 10, scope: scope, flags: flags, all: all)) else {
            Issue.record("not an address")
            return
        }
        #expect(address.isUsable == isUsable && address.isVersion6 && address.link == 3)
    }

    @Test func `a route is a default route by its destination, its type and its next hops`() throws {
        func isDefault(_ body: [UInt8]) throws -> Bool {
            guard case .route(let route) = try only(24, body) else { return false }
            return route.isDefault
        }
        #expect(try isDefault(Bytes.route(link: 3)))
        #expect(try isDefault(Bytes.route(family: 10, link: 3)))
        #expect(try isDefault(Bytes.route()), "without an interface")
        #expect(try !isDefault(Bytes.route(bits: 24, link: 3)))
        #expect(try !isDefault(Bytes.route(type: 7, link: 1)), "unreachable")
        #expect(try !isDefault(Bytes.route(type: 6)), "blackhole")
        #expect(try !isDefault(Bytes.route(flags: 0x200, link: 3)), "cached")
        #expect(try !isDefault(Bytes.route(flags: 0x10, link: 3)), "its link is down")
        #expect(try isDefault(Bytes.route(hops: [(3, 1), (4, 0)])))
        #expect(try !isDefault(Bytes.route(hops: [(3, 1), (4, 0x10)])), "all next hops are dead")
    }

    @Test func `other messages are told apart`() throws {
        #expect(try only(3, Bytes.done) == .done)
        #expect(try only(2, Bytes.number(Int32(-1))) == .error(1))
        #expect(try only(2, Bytes.number(Int32.min)) == .error(0))
        #expect(try only(4, []) == .overrun)
        #expect(try only(17, Bytes.link(3, 0)) == .other)
        #expect(try only(60_000, []) == .other)
    }

    @Test func `no bytes trap, and no cut message is taken for a whole one`() {
        let whole =
            Bytes.message(16, Bytes.link(7, 0x1043), flags: 2) + Bytes.message(20, Bytes.address(7, all: 0x80), flags: 2)
            + Bytes.message(24, Bytes.route(hops: [(3, 0), (4, 0)]), flags: 0x12) + Bytes.message(3, Bytes.done)
        #expect(NetlinkMessage.all(in: whole).messages.count == 4)
        for count in 0..<whole.count {
            let (messages, isComplete) = NetlinkMessage.all(in: Array(whole.prefix(count)))
            #expect(messages.count < 4)
            // The bytes may end after a message.
            if isComplete { #expect(messages == Array(NetlinkMessage.all(in: whole).messages.prefix(messages.count))) }
        }
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<Sweep.rounds(ofAll: 40_000) {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<6, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = [0, 1, 4, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
            }
            _ = NetlinkMessage.all(in: Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
        }
    }
}
