import Foundation
import Testing

@testable import WebServiceClient

/// Decoders and containers that outlive the call, after the text that was read in place has been freed.
@Suite struct JSONOutlivingTests {
    private final class Kept {
        var decoders: [any Decoder] = []
        var objects: [KeyedDecodingContainer<AnyKey>] = []
        var lists: [any UnkeyedDecodingContainer] = []
        var values: [any SingleValueDecodingContainer] = []

        static let key = CodingUserInfoKey(rawValue: "kept")
    }

    /// Keeps everything passed to it.
    private struct Keeper: Decodable {
        init(from decoder: any Decoder) throws {
            let kept = try #require(Kept.key.flatMap { decoder.userInfo[$0] as? Locked<Kept> })
            let value = try decoder.singleValueContainer()
            var (decoders, objects, lists): ([any Decoder], [KeyedDecodingContainer<AnyKey>], [any UnkeyedDecodingContainer]) = ([], [], [])
            decoders.append(decoder)
            if let object = try? decoder.container(keyedBy: AnyKey.self) {
                objects += [object, try object.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "o"))]
                lists.append(try object.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "a")))
                decoders += [try object.superDecoder(), try object.superDecoder(forKey: AnyKey(stringValue: "a"))]
                _ = try object.decode([Keeper].self, forKey: AnyKey(stringValue: "a"))
            } else if var list = try? decoder.unkeyedContainer() {
                lists.append(list)
                decoders.append(try list.superDecoder())
                lists.append(list)
            }
            kept.withLock {
                $0.values.append(value)
                $0.decoders += decoders
                $0.objects += objects
                $0.lists += lists
            }
        }
    }

    private static let key = AnyKey(stringValue: "a")

    private func expectNothing(of decoder: any Decoder) throws {
        #expect(decoder.codingPath.isEmpty)
        #expect(decoder.userInfo.isEmpty)
        #expect(throws: DecodingError.self) { try decoder.container(keyedBy: AnyKey.self) }
        #expect(throws: DecodingError.self) { try decoder.unkeyedContainer() }
        try expectNothing(of: decoder.singleValueContainer())
    }

    private func expectNothing(of value: any SingleValueDecodingContainer) throws {
        #expect(value.codingPath.isEmpty)
        #expect(!value.decodeNil())
        #expect(throws: DecodingError.self) { try value.decode(Bool.self) }
        #expect(throws: DecodingError.self) { try value.decode(Int.self) }
        #expect(throws: DecodingError.self) { try value.decode(UInt64.self) }
        #expect(throws: DecodingError.self) { try value.decode(Double.self) }
        #expect(throws: DecodingError.self) { try value.decode(Float.self) }
        #expect(throws: DecodingError.self) { try value.decode(String.self) }
        #expect(throws: DecodingError.self) { try value.decode(Decimal.self) }
        #expect(throws: DecodingError.self) { try value.decode([Int].self) }
    }

    private func expectNothing(of object: KeyedDecodingContainer<AnyKey>) throws {
        let key = Self.key
        #expect(object.codingPath.isEmpty)
        #expect(object.allKeys.isEmpty)
        #expect(!object.contains(key))
        #expect(throws: DecodingError.self) { try object.decodeNil(forKey: key) }
        #expect(throws: DecodingError.self) { try object.decode(Int.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decode(Double.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decode(String.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decode(Date.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decode([Int].self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decodeIfPresent(Int.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.decodeIfPresent([Int].self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.nestedContainer(keyedBy: AnyKey.self, forKey: key) }
        #expect(throws: DecodingError.self) { try object.nestedUnkeyedContainer(forKey: key) }
        #expect(throws: DecodingError.self) { try object.superDecoder() }
        #expect(throws: DecodingError.self) { try object.superDecoder(forKey: key) }
    }

    private func expectNothing(of list: any UnkeyedDecodingContainer) throws {
        var list = list
        #expect(list.codingPath.isEmpty)
        #expect(list.isAtEnd)
        #expect(list.count == nil)
        #expect(throws: DecodingError.self) { try list.decodeNil() }
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(throws: DecodingError.self) { try list.decode(Double.self) }
        #expect(throws: DecodingError.self) { try list.decode(String.self) }
        #expect(throws: DecodingError.self) { try list.decode([Int].self) }
        #expect(throws: DecodingError.self) { try list.nestedContainer(keyedBy: AnyKey.self) }
        #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
        #expect(throws: DecodingError.self) { try list.superDecoder() }
    }

    /// Decodes a long text and keeps its decoders. The text's memory is unreadable after this returns.
    private func keep(_ text: String, converts: Bool) throws -> (Kept, Fence) {
        let fence = try #require(Fence())
        let kept = Locked(Kept())
        var reader = JSONReader()
        reader.userInfo = [try #require(Kept.key): kept]
        if converts { reader.keyDecodingStrategy = .convertFromSnakeCase }
        #expect(text.utf8.count > 512)
        try fence.read(Array(text.utf8)) { _ = try reader.decode(Keeper.self, from: $0) }
        try #require(fence.close())
        return (kept.withLock { $0 }, fence)
    }

    private func expectNothing(of kept: Kept) throws {
        #expect(kept.decoders.count > 20 && kept.values.count > 20 && kept.lists.count >= 3 && kept.objects.count == 2)
        for decoder in kept.decoders { try expectNothing(of: decoder) }
        for value in kept.values { try expectNothing(of: value) }
        for object in kept.objects { try expectNothing(of: object) }
        for list in kept.lists { try expectNothing(of: list) }
    }

    private static func text(_ secret: String) -> String {
        let elements = (0..<20).map { "\"\(secret) \($0)\"" }.joined(separator: ",")
        let names = (0..<20).map { "\"name_\($0)\":\"\(secret)\"" }.joined(separator: ",")
        return "{\"x\":1.5,\"super\":null,\"a\":[\(elements),12345,[\"in\",1]],\"o\":{\"a\":\"\(secret)\",\(names)},\"z\":\"z\"}"
    }

    @Test(arguments: [false, true])
    func `Nothing is read of a text that is gone`(converts: Bool) throws {
        let (kept, fence) = try keep(Self.text("secret"), converts: converts)
        try withExtendedLifetime(fence) {
            try expectNothing(of: kept)
            // The memory must not be read even while it contains other texts.
            _ = try JSONReader().decode([Int].self, from: Data("[1,2,3]".utf8))
            try expectNothing(of: kept)
            let (others, other) = try keep(Self.text("other"), converts: converts)
            try expectNothing(of: kept)
            try withExtendedLifetime(other) { try expectNothing(of: others) }
        }
    }

    @Test func `Nothing is read of such texts while other calls use the memory`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<10 {
                        let (kept, fence) = try keep(Self.text("secret \(number) \(round)"), converts: round % 2 == 0)
                        await Task.yield()
                        try withExtendedLifetime(fence) { try expectNothing(of: kept) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
