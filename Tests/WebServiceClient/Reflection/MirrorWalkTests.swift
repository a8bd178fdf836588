import Foundation
import Testing

@testable import WebServiceClient

@Suite struct MirrorWalkTests {
    @propertyWrapper struct Clamped {
        private var value: Int
        var wrappedValue: Int { value }
        init(wrappedValue: Int) { value = min(wrappedValue, 10) }
    }
    @propertyWrapper struct Trimmed: Encodable {
        var wrappedValue: String
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(wrappedValue.uppercased())
        }
    }
    class Base {
        var first = 1
    }
    final class Derived: Base {
        var second: Base? = Base()
        var third = "c"
    }
    final class Ring {
        var next: Ring?
        var name = "r"
    }
    final class EncodableRing: Encodable {
        var next: EncodableRing?
    }

    private func pairs(_ value: Any, _ rules: FieldReflection = FieldReflection()) throws -> [String] {
        try rules.fields(of: value).map { "\($0.name)=\($0.value ?? "")" }
    }

    @Test func `A superclass's properties come first`() throws {
        #expect(try pairs(Derived()) == ["first=1", "second[first]=1", "third=c"])
        #expect(try pairs(Derived()) == ["first=1", "second[first]=1", "third=c"])
    }

    @Test func `Wrapped properties go by their own names`() throws {
        struct Query {
            @Clamped var limit = 50
            @Trimmed var text: String = "a"
            var _id = 7
            var _uuid: UUID?
        }
        #expect(try pairs(Query()) == ["limit=10", "text=A", "_id=7"])
    }

    @Test func `A lazy property counts once it is computed`() throws {
        struct Query {
            lazy var text = "a"
        }
        var query = Query()
        let error = #expect(throws: ReflectionError.self) { try pairs(query) }
        #expect(error?.problem == .lazyNotComputed)
        #expect(error?.path == "text")
        _ = query.text
        #expect(try pairs(query) == ["text=a"])
    }

    @Test func `A cycle ends with an error`() {
        let ring = Ring()
        ring.next = ring
        let other = EncodableRing()
        other.next = other
        defer { (ring.next, other.next) = (nil, nil) }
        for value in [ring, other] as [Any] {
            for limit in [-1, 5, 32, 1_000_000] {
                let rules = FieldReflection(depthLimit: limit)
                let error = #expect(throws: ReflectionError.self) { try rules.fields(of: value) }
                #expect(error?.problem == .tooDeep(limit: min(max(limit, 1), 128)))
            }
        }
    }

    @Test func `Depth up to the limit is fine`() throws {
        var value: Any = 1
        for _ in 0..<20 { value = ["k": value] }
        #expect(try pairs(value).count == 1)
        #expect(throws: ReflectionError.self) { try pairs(value, .init(depthLimit: 10)) }
    }

    @Test func `Functions and enums with payload are errors that name the place`() {
        struct Query {
            enum Sort { case by(String) }
            var sort = Sort.by("x")
        }
        struct Handler {
            var run: () -> Void = {}
        }
        #expect(throws: ReflectionError.self) { try pairs(Handler()) }
        let error = #expect(throws: ReflectionError.self) { try pairs(Query()) }
        #expect(error?.problem == .enumWithoutRawValue)
        #expect(error?.path == "sort")
    }

    @Test func `A mirror of the type's own choice is followed`() throws {
        struct Custom: CustomReflectable {
            var names: [String]
            var customMirror: Mirror { Mirror(self, children: names.map { (label: $0, value: 1) }, displayStyle: .struct) }
        }
        #expect(try pairs(Custom(names: ["a"])) == ["a=1"])
        #expect(try pairs(Custom(names: ["b", "c"])) == ["b=1", "c=1"])
    }

    @Test func `One property may hold values of many types`() throws {
        struct Box {
            var content: Any
        }
        let contents: [Any] = [1, "a", [true], ["k": 2], Box(content: 3), Int?.none as Any]
        #expect(
            try contents.flatMap { try pairs(Box(content: $0)) } == [
                "content=1", "content=a", "content=true", "content[k]=2", "content[content]=3",
            ])
    }

    @Test func `Plans are found by many tasks at once`() async throws {
        struct Query {
            var a = 1
            var b = [true]
        }
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<50 { group.addTask { try FieldReflection().fields(of: Query()).map(\.name) } }
            for try await names in group { #expect(names == ["a", "b"]) }
        }
    }
}
