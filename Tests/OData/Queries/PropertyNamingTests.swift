import Foundation
import Testing
import WebServiceClient

@testable import OData

/// What types state of their properties, and what requests select without being told.
@Suite struct PropertyNamingTests {
    struct Target: Decodable, Sendable { let Id: Int, Title: String }
    struct Home: Decodable, Sendable { let City: String, Keeper: ToOne<Target> }
    struct Guest: Decodable, Sendable {
        let Name: String
        let Home: Home
        let Boss: ToOne<Target>
        let Trips: ToMany<Target>
        let Friends: ToMany<Target>?
    }

    private func text(_ request: some QueryBuilding, _ version: ODataVersion = .v4) throws -> String? {
        let printer = QueryPrinter(version: version)
        let url = try (request as? FetchRequest<Guest>)?.relativeURL(using: printer)
        return url?.removingPercentEncoding
    }

    // MARK: Relations

    @Test func `relations aren't selected by default, except in version 2 for their links`() throws {
        let guests = FetchRequest<Guest>(from: "G")
        #expect(try text(guests) == "G?$select=Name,Home")
        #expect(try text(guests, .v401) == "G?$select=Name,Home")
        #expect(try text(guests.expand(\.Trips) { $0.top(1) }) == "G?$select=Name,Home&$expand=Trips($select=Id,Title;$top=1)")
        #expect(try text(guests.select(\.Trips)) == "G?$select=Trips")
        #expect(try text(guests, .v2) == "G?$select=Name,Home,Boss,Trips,Friends")
        #expect(guests.options.decodedNames == ["Name", "Home", "Boss", "Trips", "Friends"] && guests.selectionNote == nil)
    }

    @Test func `key paths to and through relations have names`() throws {
        let guests = FetchRequest<Guest>(from: "G").selectAll()
        #expect(try text(guests.expand(\.Boss).expand(\.Trips)) == "G?$expand=Boss($select=Id,Title),Trips($select=Id,Title)")
        #expect(try text(guests.order(by: .ascending(\.Boss.value?.Title))) == "G?$orderby=Boss/Title")
        #expect(try text(guests.order(by: .ascending(\.Home.Keeper.value?.Id))) == "G?$orderby=Home/Keeper/Id")
        #expect(try text(guests.filter { $0.Home.Keeper.Title == "x" }) == "G?$filter=Home/Keeper/Title eq 'x'")
    }

    /// Must not be decoded: that would be the cost of the whole closure.
    struct Far: Decodable, Sendable {
        let Name: String
        init(from decoder: any Decoder) throws {
            Issue.record("A related entity is decoded.")
            Name = ""
        }
    }
    struct Near: Decodable, Sendable { let Id: Int, Far: ToOne<Far>, Fars: ToMany<Far>, Last: String }

    @Test func `samples contain no related entities`() throws {
        let request = FetchRequest<Near>(from: "N").expand("Fars").select(\.Id, \.Last).order(by: .descending(\.Last))
        #expect(try request.relativeURL() == "N?$select=Id,Last&$expand=Fars&$orderby=Last%20desc")
        #expect(try FetchRequest<Near>(from: "N").relativeURL() == "N?$select=Id,Last")
    }

    /// Doesn't decode without its relation.
    struct Strict: Decodable, Sendable {
        let boss: Target
        enum CodingKeys: String, CodingKey { case boss = "Boss" }
        init(from decoder: any Decoder) throws {
            let relation = try decoder.container(keyedBy: CodingKeys.self).decode(ToOne<Target>.self, forKey: .boss)
            guard case .value(let boss) = relation else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The boss is missing."))
            }
            self.boss = boss
        }
    }

    @Test func `a type that requires its relations gets samples with them`() throws {
        #expect(try FetchRequest<Strict>(from: "S").select(\.boss.Title).relativeURL() == "S?$select=Boss/Title")
    }

    // MARK: Statements

    /// Decodes no sample.
    struct Stated: Decodable, Sendable, PropertyNaming {
        let name: String, size: Int, parts: ToMany<Target>
        static var propertyNames: [PartialKeyPath<Stated>: String] { [\.name: "Name", \.size: "Dimensions/Size", \.parts: "Parts"] }
        static var decodedProperties: DecodedProperties { .names(["Name", "Dimensions", "Parts"], relations: ["Parts"]) }

        init(from decoder: any Decoder) throws {
            guard decoder is PayloadDecoder || JSONNode(decoder) != nil else {
                Issue.record("A sample is decoded.")
                throw CancellationError()
            }
            (name, size, parts) = ("", 0, ToMany())
        }
    }

    @Test func `a type that states its properties isn't decoded`() throws {
        let request = FetchRequest<Stated>(from: "S")
        #expect(try request.relativeURL() == "S?$select=Name,Dimensions")
        #expect(try request.relativeURL(using: QueryPrinter(version: .v2)) == "S?$select=Name,Dimensions,Parts")
        let full = request.filter { $0.size > 1 }.select(\.size).expand(\.parts) { $0.top(1) }.order(by: .ascending(\.name))
        #expect(
            try full.relativeURL().removingPercentEncoding
                == "S?$filter=Dimensions/Size gt 1&$select=Dimensions/Size&$expand=Parts($select=Id,Title;$top=1)&$orderby=Name")
        #expect(request.options.decodedNames == ["Name", "Dimensions", "Parts"] && request.selectionNote == nil)
        let read = try ODataDecoder().decode(ODataEntity<Stated>.self, from: Data(#"{"Name":"a","More":1,"Parts":[]}"#.utf8))
        #expect(read.undeclared == ["More": 1])
    }

    struct Wide: Decodable, Sendable, PropertyNaming {
        let Id: Int, Name: String
        static var defaultSelection: DefaultSelection { .none }
    }
    struct Listed: Decodable, Sendable, PropertyNaming {
        let Id: Int, Name: String, Boss: ToOne<Wide>
        static var defaultSelection: DefaultSelection { .names(["Id", "Boss"]) }
    }

    @Test func `a type determines what is selected by default`() throws {
        let wide = FetchRequest<Wide>(from: "W")
        #expect(try wide.relativeURL() == "W" && wide.selectionNote == nil)
        #expect(try wide.select(\.Name).relativeURL() == "W?$select=Name")
        let listed = FetchRequest<Listed>(from: "L")
        #expect(try listed.relativeURL() == "L?$select=Id,Boss")
        #expect(try listed.expand(\.Boss).relativeURL() == "L?$select=Id&$expand=Boss")
        #expect(try listed.expand(\.Boss).relativeURL(using: QueryPrinter(version: .v2)) == "L?$select=Id,Boss&$expand=Boss")
        #expect(try listed.selectAll().relativeURL() == "L" && listed.withMetadata().relativeURL() == "L")
    }

    /// Over the payload's own object.
    struct Over: Decodable, Sendable {
        var object: DynamicEntity
        init(from decoder: any Decoder) throws { object = try DynamicEntity(from: decoder) }
    }
    struct StatedOver: Decodable, Sendable, PropertyNaming {
        var object: DynamicEntity
        var name: String? { object["Name"]?.string }
        static var propertyNames: [PartialKeyPath<StatedOver>: String] { [\.name: "Name"] }
        static var decodedProperties: DecodedProperties { .all }
        init(from decoder: any Decoder) throws {
            guard decoder is PayloadDecoder || JSONNode(decoder) != nil else {
                Issue.record("A sample is decoded.")
                throw CancellationError()
            }
            object = try DynamicEntity(from: decoder)
        }
    }

    @Test func `a type with any properties selects none`() throws {
        let over = FetchRequest<Over>(from: "O")
        #expect(try over.relativeURL() == "O")
        #expect(over.selectionNote?.contains("it decodes arbitrary properties") == true, "\(over.selectionNote ?? "")")
        let stated = FetchRequest<StatedOver>(from: "O")
        #expect(try stated.select(\.name).relativeURL() == "O?$select=Name" && stated.relativeURL() == "O" && stated.selectionNote == nil)
        let error = #expect(throws: ODataQueryError.self) { try stated.select(\.object).relativeURL() }
        #expect(error?.description.contains("states no name") == true)
        let entity = try ODataDecoder().decode(ODataEntity<StatedOver>.self, from: Data(#"{"@odata.etag":"e","Name":"a","X":1}"#.utf8))
        #expect(
            entity.undeclared == [:] && entity.value.object == ["@odata.etag": "e", "Name": "a", "X": 1] && entity.metadata.etag == "e")
    }

    // MARK: Options of other modules

    @Test func `nested options are made from parts`() throws {
        var options = QueryOptions(decoding: Target.self)
        options.top = 3
        let nested = NestedQuery<Target>(options: options).order(by: .ascending(\.Id))
        let request = FetchRequest<Guest>(from: "G").selectAll().expand(Expansion(path: QueryPath("Trips"), options: nested.options))
        #expect(try text(request) == "G?$expand=Trips($select=Id,Title;$orderby=Id;$top=3)")
        #expect(NestedQuery<Target>().options == QueryOptions(decoding: Target.self))
    }
}
