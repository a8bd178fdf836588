import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct PropertyNamesTests {
    struct Address: Codable, Sendable, Equatable { var cityName: String }
    struct Trip: Codable, Sendable, Equatable {
        var startPlace: String
        var xCount: Int?
    }
    struct Person: Codable, Sendable, Equatable, EntityType {
        static let entitySetName = "people"
        var personID: Int
        var firstName: String
        var homeAddress: Address?
        var nickNames: [String: String]?
        var lastTrips: [Trip]?
    }
    struct Totals: Codable, Sendable, Equatable {
        var firstName: String
        var tripCount: Int
    }

    private let stub = StubTransport()
    private let people = FetchRequest<Person>()

    private func client(_ names: PropertyNames = .snakeCase, _ version: ODataVersion = .v4) -> ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        client.printer = QueryPrinter(version: version, names: names)
        return client
    }

    private func url<Entity>(_ request: FetchRequest<Entity>, _ names: PropertyNames = .snakeCase, _ version: ODataVersion = .v4) throws
        -> String?
    {
        try request.relativeURL(using: QueryPrinter(version: version, names: names)).removingPercentEncoding
    }

    private var body: String? { stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } }

    @Test(arguments: [
        ("firstName", "first_name", "FirstName"), ("someURL", "some_url", "SomeURL"), ("someURLPath", "some_url_path", "SomeURLPath"),
        ("id", "id", "Id"), ("x", "x", "X"), ("", "", ""), ("_hiddenName_", "_hidden_name_", "_hiddenName_"),
        ("line2Text", "line2_text", "Line2Text"),
        ("@odata.typeName", "@odata.typeName", "@odata.typeName"),
        ("firstName@odata.typeName", "first_name@odata.typeName", "FirstName@odata.typeName"),
    ])
    func `names are converted, control information isn't`(name: String, snake: String, pascal: String) {
        #expect(PropertyNames.snakeCase.service(name) == snake && PropertyNames.pascalCase.service(name) == pascal)
        #expect(PropertyNames.asDeclared.service(name) == name && PropertyNames.asDeclared.declared(name) == name)
        #expect(PropertyNames.pascalCase.declared(pascal) == name)
        #expect(PropertyNames.snakeCase.service(PropertyNames.snakeCase.declared(snake)) == snake)
    }

    @Test func `queries have the service's names of what types declare`() throws {
        let request = people.filter { $0.firstName == "A" && $0.homeAddress.cityName.hasPrefix("B") }.order(by: .ascending(\.firstName))
        #expect(
            try url(request.selectAll())
                == "people?$filter=first_name eq 'A' and startswith(home_address/city_name,'B')&$orderby=first_name")
        #expect(try url(people.select(\.firstName)) == "people?$select=first_name")
        #expect(try url(people) == "people?$select=person_id,first_name,home_address,nick_names,last_trips")
        #expect(try url(people, .pascalCase) == "people?$select=PersonID,FirstName,HomeAddress,NickNames,LastTrips")
        #expect(
            try url(people.expand(\.lastTrips) { $0.order(by: .descending(\.startPlace)) })
                == "people?$select=person_id,first_name,home_address,nick_names&$expand=last_trips($select=start_place,x_count;$orderby=start_place desc)"
        )
        #expect(
            try url(people.expand(\.lastTrips), .snakeCase, .v2)
                == "people?$select=person_id,first_name,home_address,nick_names,last_trips/start_place,last_trips/x_count&$expand=last_trips"
        )
        #expect(try url(people.key(1).navigate(\.lastTrips).selectAll()) == "people(1)/last_trips")
        // A variable isn't called as a property is.
        let counted = people.filter { $0.lastTrips.any { $0.xCount == 1 } }.selectAll()
        #expect(try url(counted, .pascalCase) == "people?$filter=LastTrips/any(x1:x1/XCount eq 1)")
    }

    @Test func `names that are given as texts are the service's own`() throws {
        #expect(
            try url(people.select("firstName").filter(.property("lastName") == "A")) == "people?$filter=lastName eq 'A'&$select=firstName")
        let error = #expect(throws: ODataQueryError.self) { try url(people.expand(\.lastTrips).expand("last_trips")) }
        #expect(error?.description.contains("twice") == true)
    }

    @Test func `results of transformations are called as their types are read`() throws {
        let request = people.apply { $0.group(by: \.firstName, into: Totals.self, .count(as: \.tripCount)) }.order(
            by: .descending(\.tripCount))
        #expect(
            try url(request)
                == "people?$apply=groupby((first_name),aggregate($count as trip_count))&$orderby=trip_count desc")
    }

    private static let payload =
        #"{"person_id":1,"first_name":"Ada","home_address":{"city_name":"Bonn"},"nick_names":{"oldName":"a","new_name":"b"},"#
        + #""last_trips":[{"start_place":"X","x_count":null}]"#
    private static let ada = Person(
        personID: 1, firstName: "Ada", homeAddress: Address(cityName: "Bonn"), nickNames: ["oldName": "a", "new_name": "b"],
        lastTrips: [Trip(startPlace: "X")])

    @Test(arguments: [true, false])
    func `answers are read by the service's names`(streams: Bool) async throws {
        stub.fallback(.json(#"{"@odata.context":"c","value":["# + Self.payload + #","later_name":2}]}"#))
        let client = client()
        client.streamsPages = streams
        #expect(try await client.fetch(people) == [Self.ada])
        var found: [Person] = []
        for try await person in client.entities(matching: people) { found.append(person) }
        #expect(found == [Self.ada])
        let entity = try await client.page(people.withMetadata()).entities[0]
        #expect(entity.value == Self.ada && entity.undeclared == ["later_name": 2])
        stub.fallback(.json(Self.payload + "}"))
        #expect(try await client.fetch(people.key(1)) == Self.ada)
    }

    @Test func `changes are written by the service's names`() async throws {
        stub.fallback(.status(204))
        let client = client()
        _ = try await client.create(Self.ada, in: people)
        let sent = try ODataDecoder().decode(DynamicEntity.self, from: Data((body ?? "").utf8))
        #expect(sent.properties.map(\.name) == ["person_id", "first_name", "home_address", "nick_names", "last_trips"])
        #expect(sent["nick_names"]?["oldName"] == "a" && sent["home_address"] == ["city_name": "Bonn"])
        var draft = EntityDraft(of: Self.ada)
        draft.homeAddress = Address(cityName: "Jena")
        draft.nickNames?["oldName"] = nil
        _ = try await client.update(people.key(1), with: draft)
        #expect(body == #"{"home_address":{"city_name":"Jena"},"nick_names":{"oldName":null}}"#)
        try await client.set(\.firstName, of: people.key(1), to: "Eve")
        try #require(stub.requests.last).expectURL("https://h.example/svc/people(1)/first_name")
        try await self.client(.pascalCase, .v2).set(\.firstName, of: people.key(1), to: "Eve")
        #expect(body == #"{"FirstName":"Eve"}"#)
    }

    @Test func `coders have them as well, and types that look at what keys there are`() throws {
        struct Bag: Codable, Equatable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var values: [String: Int] = [:]

            init(_ values: [String: Int]) { self.values = values }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys { values[key.stringValue] = try container.decode(Int.self, forKey: key) }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                for (name, value) in values { try container.encode(value, forKey: Key(stringValue: name)) }
            }
        }
        let marked = PropertyNames.custom(toService: { "p_" + $0 }, fromService: { String($0.dropFirst(2)) })
        for (names, text) in [
            (PropertyNames.snakeCase, #"{"some_value":1}"#), (.pascalCase, #"{"SomeValue":1}"#), (marked, #"{"p_someValue":1}"#),
        ] {
            let bag = Bag(["someValue": 1])
            #expect(try ODataEncoder(names: names).encode(bag) == Data(text.utf8))
            #expect(try ODataDecoder(names: names).decode(Bag.self, from: Data(text.utf8)) == bag)
            #expect(try ODataSerializer(names: names).encode(bag) == Data(text.utf8))
        }
        #expect(marked == marked && marked != .custom(toService: { $0 }, fromService: { $0 }))
        let error = #expect(throws: DecodingError.self) {
            try ODataDecoder(names: .snakeCase).decode(Address.self, from: Data(#"{"cityName":"A"}"#.utf8))
        }
        #expect("\(String(describing: error))".contains("city_name"))
    }

    @Test func `values with a spelling of their own keep it`() throws {
        struct Place: Codable, Equatable { var onMap: EdmSpatial }
        let place = Place(onMap: .point(longitude: 7, latitude: 50))
        let data = try ODataEncoder(names: .pascalCase).encode(place)
        #expect(String(decoding: data, as: UTF8.self) == #"{"OnMap":{"type":"Point","coordinates":[7.0,50.0]}}"#)
        #expect(try ODataDecoder(names: .pascalCase).decode(Place.self, from: data) == place)
    }
}
