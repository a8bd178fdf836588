import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct PolymorphicTests {
    protocol Animal: Sendable { var Name: String { get } }
    struct Dog: Animal, Decodable { let Name: String, Barks: Bool }
    struct Cat: Animal, Decodable { let Name: String }
    class Person: Decodable, @unchecked Sendable { var Name = "" }
    final class Employee: Person, @unchecked Sendable {
        var Salary = 0
        private enum Key: CodingKey { case Salary }
        required init(from decoder: any Decoder) throws {
            Salary = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .Salary)
            try super.init(from: decoder)
        }
    }

    private var types: TypeRegistry {
        var types = TypeRegistry()
        types.register(Dog.self, as: "Zoo.Dog")
        types.register(Cat.self, as: "Zoo.Cat")
        types.register("Zoo.Poodle", derivedFrom: "Zoo.ShowDog")
        types.register("Zoo.ShowDog", derivedFrom: "Zoo.Dog")
        types.register("Zoo.Loop", derivedFrom: "Zoo.Pool")
        types.register("Zoo.Pool", derivedFrom: "Zoo.Loop")
        types.register(Employee.self, as: "HR.Employee", derivedFrom: "HR.Person")
        return types
    }

    private func decode<Base>(_ json: String, as type: Base.Type) throws -> [Polymorphic<Base>] {
        try ODataDecoder(types: types).decode(ODataPage<Polymorphic<Base>>.self, from: Data(json.utf8)).entities
    }

    @Test func `entities are decoded as the type that they name, in V4 and V2`() throws {
        let four =
            ##"{"value":[{"@odata.type":"#Zoo.Dog","Name":"Rex","Barks":true},{"@type":"http://h/$metadata#Zoo.Cat","Name":"Tom"}]}"##
        let two =
            #"{"d":{"results":[{"__metadata":{"type":"Zoo.Dog"},"Name":"Rex","Barks":true},{"__metadata":{"type":"Zoo.Cat"},"Name":"Tom"}]}}"#
        for json in [four, two] {
            let animals = try decode(json, as: (any Animal).self)
            #expect(animals[0].value is Dog && animals[1].value is Cat && animals.map(\.value.Name) == ["Rex", "Tom"])
            #expect(animals[1].typeName == "Zoo.Cat" && animals[1].undeclared.properties.isEmpty)
        }
    }

    @Test(arguments: [
        "$metadata#Animals/Zoo.Dog", "https://h.example/svc/$metadata#Animals/Zoo.Dog(Name,Barks,Owner(Name))", "#Collection(Zoo.Dog)",
        "../$metadata#Owners('a%2Fb')/Animals/Zoo.Dog", "$metadata#Animals/Zoo.Poodle",
    ]) func `the context names the type of a response's entities`(context: String) async throws {
        let members = #""@odata.context":"\#(context)""#
        let page =
            "{\(members),\"value\":[{\"Name\":\"Rex\",\"Barks\":true},"
            + ##"{"@odata.type":"#Zoo.Cat","Name":"Tom"}]}"##
        let stub = StubTransport()
        let client = stub.client()
        client.types = types
        stub.fallback(.json(page))
        let request = FetchRequest<Polymorphic<any Animal>>(from: "Animals")
        var all = [try decode(page, as: (any Animal).self), try await client.fetch(request)]
        var streamed: [Polymorphic<any Animal>] = []
        for try await animal in client.entities(matching: request) { streamed.append(animal) }
        all.append(streamed)
        for animals in all {
            #expect(animals.first?.value is Dog && animals.last?.value is Cat, "\(animals)")
            #expect(animals.first?.typeName?.hasPrefix("Zoo.") == true)
        }
        let one = "{\(members)/$entity\",\"Name\":\"Rex\",\"Barks\":true}".replacing("\"/$entity", with: "/$entity")
        stub.fallback(.json(context.contains("Collection") ? one.replacing("Collection(Zoo.Dog)/$entity", with: "Zoo.Dog") : one))
        #expect(try await client.fetch(EntityRequest<Polymorphic<any Animal>>(at: "Animals(1)")).value is Dog)
        #expect(try await client.evaluate(ResourcePath(function: "F")) as Polymorphic<any Animal>? != nil)
    }

    @Test func `the context's type isn't that of inner entities, and others name none`() throws {
        struct Owner: Decodable, Sendable { let Pet: Polymorphic<any Animal>, Pets: [Polymorphic<any Animal>] }
        let json = ##"{"@odata.context":"$metadata#Animals/Zoo.Dog","value":[{"Pet":\##(Self.cat),"Pets":[\##(Self.cat)]}]}"##
        let owner = try #require(try ODataDecoder(types: types).decode(ODataPage<Owner>.self, from: Data(json.utf8)).entities.first)
        #expect(owner.Pet.typeName == "Zoo.Cat" && owner.Pets.first?.typeName == "Zoo.Cat")
        let nameless = json.replacing(##""@odata.type":"#Zoo.Cat","##, with: "")
        let other = try #require(try ODataDecoder(types: types).decode(ODataPage<Owner>.self, from: Data(nameless.utf8)).entities.first)
        #expect(other.Pet.typeName == nil && other.Pet.value is Cat && other.Pets.first?.typeName == nil)
        for context in [
            "$metadata", "$metadata#Animals", "$metadata#Animals/$entity", "$metadata#Animals(Name)", "#E('a/b.c')/Pet", "#E('a/b.c')", "",
            "#Edm.", "#a..b", "x.y", "#Animals/Zoo.Dog/$delta",
        ] { #expect(ContextURL.typeName(in: context) == nil, "\(context)") }
    }

    private static let cat = ##"{"@odata.type":"#Zoo.Cat","Name":"Tom"}"##

    @Test func `an unknown type is read as the nearest known base, and keeps all properties`() throws {
        let dogs = try decode(##"{"value":[{"@odata.type":"#Zoo.Poodle","Name":"Rex","Barks":true,"Cut":"lion"}]}"##, as: (any Animal).self)
        #expect(dogs[0].value is Dog && dogs[0].typeName == "Zoo.Poodle" && dogs[0].undeclared == ["Cut": "lion"])
        let people = try decode(
            ##"{"value":[{"@odata.type":"#HR.Employee","Name":"A","Salary":5},{"@odata.type":"#HR.Robot","Name":"B","Serial":1},{"Name":"C"}]}"##,
            as: Person.self)
        #expect((people[0].value as? Employee)?.Salary == 5 && people.map(\.value.Name) == ["A", "B", "C"])
        #expect(people[1].undeclared["Serial"] == 1)
    }

    @Test func `an unknown type without a known base is an error that names it`() {
        for json in [
            ##"{"value":[{"@odata.type":"#Zoo.Loop","Name":"x"}]}"##,
            ##"{"value":[{"@odata.type":"#HR.Employee","Name":"x","Salary":1}]}"##,
        ] {
            let error = #expect(throws: (any Error).self) { try decode(json, as: (any Equatable & Sendable).self) }
            #expect(error != nil)
        }
    }

    @Test func `without a type name the only matching root is used, and several are an error`() throws {
        var one = TypeRegistry()
        one.register(Cat.self, as: "Zoo.Cat")
        one.register(Employee.self, as: "HR.Employee")
        let json = Data(#"{"value":[{"Name":"Tom","Barks":false,"Salary":1}]}"#.utf8)
        let found = try ODataDecoder(types: one).decode(ODataPage<Polymorphic<any Animal>>.self, from: json).entities
        #expect(found.first?.value is Cat)
        #expect(throws: DecodingError.self) { try ODataDecoder(types: types).decode(ODataPage<Polymorphic<any Animal>>.self, from: json) }
    }

    @Test func `complex values are polymorphic, too`() throws {
        struct Thing: Decodable, Sendable { let Pet: Polymorphic<any Animal> }
        let json = ##"{"Pet":{"@odata.type":"#Zoo.Dog","Name":"Rex","Barks":false}}"##
        #expect(try ODataDecoder(types: types).decode(Thing.self, from: Data(json.utf8)).Pet.value is Dog)
    }
}
