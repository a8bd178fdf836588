import Foundation
import Testing
import WebServiceClient

@testable import WebServiceTesting

@Suite struct MethodSignatureTests {
    @Test(arguments: [
        ("K.C.get() -> ()", "get()", [], "()"),
        ("K.C.get(id: Swift.Int) async throws -> K.Item", "get(id:)", ["Swift.Int"], "K.Item"),
        ("K.C.get(Swift.Int, [Swift.String : Swift.Int]?) -> ()", "get(_:_:)", ["Swift.Int", "[Swift.String : Swift.Int]?"], "()"),
        ("K.C.get(_: Swift.Int, b: (Swift.Int, a: K.B)) -> ()", "get(_:b:)", ["Swift.Int", "(Swift.Int, a: K.B)"], "()"),
        (
            "K.C.get(f: (Swift.Int) -> Swift.Int) async throws(K.E) -> K.B<K.A, K.B>", "get(f:)", ["(Swift.Int) -> Swift.Int"],
            "K.B<K.A, K.B>"
        ),
        ("K.C.get<A where A: Swift.Encodable>(A) throws -> A", "get(_:)", ["A"], "A"),
        ("K.C.(get in _0123456789ABCDEF)(id: K.(B in _01)) async throws -> ()", "get(id:)", ["K.(B in _01)"], "()"),
        ("(extension in M):K.C.get(ids: Swift.Int...) -> ()", "get(ids:)", ["Swift.Int..."], "()"),
        ("(extension in M):K.C< where A == Swift.Int>.get() async -> ()", "get()", [], "()"),
        ("K.C.rate.getter : Swift.Int", "rate", [], "Swift.Int"),
        ("K.C.default(for: inout Swift.Int) -> ()", "default(for:)", ["inout Swift.Int"], "()"),
    ])
    func `A symbol's text is read`(text: String, name: String, parameters: [String], result: String) throws {
        let signature = try #require(MethodSignature(text, of: "K.C"))
        #expect(signature.name.description == name && signature.parameters == parameters && signature.result == result)
    }

    @Test func `A method of a class in a function has the class at its end`() throws {
        let owner = "C #1 in K.make(id: Swift.Int) -> [K.B.Type]"
        let signature = try #require(MethodSignature("get(id: Swift.Int) async throws -> () in " + owner, of: owner))
        #expect(signature.name.description == "get(id:)" && signature.result == "()" && signature.isAsync && signature.isThrowing)
        #expect(MethodSignature("get(id: Swift.Int) async throws -> () in C #2 in K.make()", of: owner) == nil)
    }

    @Test func `Effects and conditions of generic parameters are read`() throws {
        let text = "K.C.get<A, B where A: Swift.Encodable, A: Swift.Sendable, B == A.C>(A, B) async -> ()"
        let signature = try #require(MethodSignature(text, of: "K.C"))
        #expect(signature.isAsync && !signature.isThrowing)
        #expect(signature.constraints["A"] == ["Swift.Encodable", "Swift.Sendable"])
    }

    @Test(arguments: [
        "", "K.C", "K.C.", "K.C.get", "K.C.get(", "K.C.get()", "K.C.get() async", "K.C.get() sometimes -> ()", "K.D.get() -> ()",
        "static K.C.get() -> ()", "K.C.Inner.get() -> ()", "K.Cat.get() -> ()", "inner #1 () -> () in K.C.get() -> ()",
        "K.C.get(a: (() -> ()",
        "K.C.get<A(A) -> ()", "(extension in M", "K.C.(get in _01", "K.C.init(a: Swift.Int", "K.C.rate.setter : Swift.Int",
        "K.C.rate.getter", "K.C.a b.getter : Swift.Int",
    ])
    func `Other texts aren't methods`(text: String) {
        #expect(MethodSignature(text, of: "K.C") == nil)
    }
}

@Suite struct TypeResolverTests {
    struct Box<Value: Sendable>: Sendable {
        struct Inner: Sendable {}
    }

    @Test func `Types are found by their texts`() {
        var resolver = TypeResolver()
        let module = "WebServiceTestingTests"
        let expected: [(String, any Any.Type)] = [
            ("()", Void.self), ("Swift.Int", Int.self), ("Swift.String?", String?.self), ("[Swift.Int]", [Int].self),
            ("[[Swift.String : Swift.Double?]]?", [[String: Double?]]?.self), ("Swift.Int...", [Int].self),
            ("Swift.Set<Swift.Int>", Set<Int>.self), ("\(module).Goods.Article", Goods.Article.self),
            ("\(module).Goods.Order?", Goods.Order?.self), ("\(module).FaultyClient", FaultyClient.self),
            ("\(module).TypeResolverTests.Box<[Swift.Int]>", Box<[Int]>.self),
            ("\(module).TypeResolverTests.Box<Swift.Int>.Inner", Box<Int>.Inner.self),
            ("HTTPTransport.ResponseBody", ResponseBody.self),
            ("WebServiceClient.Pages<[\(module).Goods.Article]>", Pages<[Goods.Article]>.self),
            ("__owned Swift.Int", Int.self),
        ]
        for (text, type) in expected { #expect(resolver.type(named: text) == type, "\(text)") }
    }

    @Test(arguments: [
        "", "A", "?", "[", "[]", "[Swift.Int", "Swift.", ".Int", "Swift.Nothing", "(Swift.Int, Swift.Int)", "(Swift.Int) -> ()",
        "Swift.Encodable & Swift.Sendable", "K.(Hidden in _01)", "inout Swift.Int", "Swift.Set<>", "Swift.Set<A>", "Swift.0Int",
        "Swift.Int.Type", "Grüße.Gruß", "[Swift.Int : Swift.Int : Swift.Int]",
    ])
    func `Other texts have no type`(text: String) {
        var resolver = TypeResolver()
        #expect(resolver.type(named: text) == nil)
    }

    @Test func `Deeply nested texts are bounded`() {
        var resolver = TypeResolver()
        let deep = String(repeating: "[", count: 5_000) + "Swift.Int" + String(repeating: "]", count: 5_000)
        #expect(resolver.type(named: deep) == nil)
        #expect(resolver.type(named: "Swift.Int" + String(repeating: "?", count: 5_000)) == nil)
        #expect(resolver.type(named: String(repeating: "Swift.Set<", count: 5_000) + "Swift.Int") == nil)
    }
}
