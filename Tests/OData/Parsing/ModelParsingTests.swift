import Foundation
import OData
import ODataQueryParsing
import Testing

/// Tests the parsing of paths with and without a model.
@Suite struct ModelParsingTests {
    /// Names with several roles, as in services: `Manager` is a type and a property, `Products` a set, a property and a function.
    private let parser = QueryParser(
        names: ServiceNames([
            "Employees": [.entitySet, .entityCollection],
            "Products": [.entitySet, .entityCollection, .function(giving: .entityCollection)],
            "Orders": .entitySet, "OrderItems": .entitySet, "Manager": [.entity, .entityType], "Reports": [.entityCollection, .entityType],
            "Address": [.complex, .complexType], "Rank": [.primitive, .function(giving: .primitive), .action], "Employee": .entityType,
            "Customer": .entityType, "Items": .entityCollection, "Name": .primitive, "ID": .primitive, "style": .primitive,
            "City": [.primitive, .entityType], "Names": .primitiveCollection, "Promote": [.action, .entityType],
        ]))

    @Test(arguments: [
        "Employees?$filter=Manager/Name eq 'a'", "Employees?$filter=Model.Manager/Name eq 'a'", "Employees?$filter=Manager/Manager eq null",
        "Employees?$filter=Manager/Model.Manager/Name eq 'a'", "Employees?$expand=Manager", "Employees?$expand=Manager($select=Name)",
        "Employees?$expand=Model.Manager/Reports", "Employees?$expand=Reports/Model.Reports", "Employees?$expand=Manager/Model.Manager",
        "Employees?$select=Manager,Model.Manager/Name", "Employees?$select=Address/City,Model.Address/City",
        "Employees?$select=Address/Model.Address/City", "Employees?$orderby=Address/Model.Address/City",
        "Employees?$filter=Reports/Model.Reports/any(x1:x1/Name eq 'a')", "Employees?$filter=Reports/any(x1:x1/Manager/Name eq 'a')",
        "Employees?$apply=groupby((Manager/Name,Model.Manager/Name))", "Employees?$apply=expand(Model.Manager/Reports,identity)",
        "Employees(1)/Manager", "Employees(1)/Model.Manager/Name", "Employees/Model.Manager", "Employees/Manager",
        "Employees(1)/Manager/Model.Manager/Manager", "Employees(1)/Address/Model.Address/City", "Employees(1)/Reports/Model.Reports(5)",
        "Employees?$filter=Rank eq 1", "Employees?$filter=Model.Rank(a=1) eq 1", "Employees?$filter=Rank(a=1) eq 1",
        "Employees?$select=Rank,Model.Rank,Model.Promote", "Employees(1)/Rank", "Employees(1)/Model.Rank", "Employees(1)/Model.Promote",
        "Employees(1)/Products(5)", "Employees(1)/Products(ID=5)/Name", "Employees(1)/Products()", "Employees(1)/Model.Products(n=5)",
        "Products(ID=5)", "Employees?$filter=Products/$count gt 1",
    ])
    func `a name with several roles has the role that the path requires`(url: String) throws {
        let query = try parser.query(url)
        #expect(try QueryPrinter(version: .v401).text(of: query).removingPercentEncoding == url)
    }

    @Test func `a name is a property first, and a type with its namespace`() throws {
        func filter(_ text: String) throws -> [QueryPath.Segment] {
            guard case .binary(_, let left, _) = try parser.expression(text).kind, case .path(let path) = left.kind else { return [] }
            return path.segments
        }
        #expect(try filter("Manager/Name eq 'a'") == [.property("Manager"), .property("Name")])
        #expect(try filter("Model.Manager/Name eq 'a'") == [.cast("Model.Manager"), .property("Name")])
        #expect(try filter("Address/Model.Address/City eq 'a'") == [.property("Address"), .cast("Model.Address"), .property("City")])
        #expect(try parser.resource("Employees/Manager").segments == [.name("Employees"), .cast("Manager")])
        #expect(try parser.resource("Employees(1)/Manager").segments.last == .name("Manager"))
        #expect(try parser.resource("Employees(1)/Model.Manager").segments.last == .cast("Model.Manager"))
        #expect(
            try parser.resource("Employees(1)/Products(ID=5)")
                == ResourcePath(entitySet: "Employees").key(1).property("Products").key(["ID": 5]))
        let expansions = try parser.options("$expand=Manager,Model.Manager/Reports").expansions
        #expect(expansions.map(\.path.segments) == [[.property("Manager")], [.cast("Model.Manager"), .property("Reports")]])
    }

    @Test(arguments: [
        "Employees?$filter=Model.Name eq 1", "Employees?$filter=Model.Manager eq null", "Employees?$expand=Model.Items",
        "Employees?$select=Model.ID", "Employees(1)/Model.Manager/Model.Manager", "Employees(1)/Model.Address",
        "Employees/Model.Manager/Model.Manager", "Employees?$filter=Address/Model.Manager/Name eq 'a'", "Employees?$expand=Name",
        "Employees(1)/Nope", "$crossjoin(Employees,Nope)", "$all/Model.Nope", "$all/Model.Address", "$entity/Model.Name?$id=Employees(1)",
    ])
    func `segments that the model doesn't have there are refused`(url: String) {
        #expect(throws: QueryParsingError.self) { try parser.query(url) }
    }

    // MARK: The service

    @Test(arguments: [
        "Model.Container/$all", "Model.Container/$all?$search=blue", "A.B.Container/$all/Model.Employee", "$all", "$all/Model.Employee",
        "$all/Employee?$filter=contains(Name,'red')", "$crossjoin(Products,Orders)", "$crossjoin(Products)/$query",
        "$crossjoin(Products,Orders)?$filter=Products/ID eq Orders/ID", "$crossjoin(Products,Orders)?$expand=Products,Orders($select=ID)",
        "$crossjoin(Products,Orders)?$select=Products&$orderby=Orders/Name desc", "$entity?$id=Employees(1)",
        "$entity/Model.Employee?$select=Name&$id=http://host/Employees(1)", "Employees(1)/Products/$ref?$id=Products(0)",
        "Employees(1)/Products/$ref?$id=http://host/service/Products(0)", "Employees(1)/Manager/$ref?$id=../Employees(5)",
        "Employees(1)/Products/$ref", "Employees/$ref?$id=Employees('a%20b')", "Employees(1)/Model.Manager/Reports/$ref?$id=x",
    ])
    func `service-wide paths and references are parsed`(url: String) throws {
        for parser in [parser, QueryParser(version: .v401), QueryParser(version: .v4)] {
            let version = parser.version == .v4 && !url.contains("$query") ? ODataVersion.v4 : .v401
            let text = try QueryPrinter(version: version).text(of: parser.query(url.replacing(" ", with: "%20")))
            #expect(text == url.replacing(" ", with: "%20"))
        }
    }

    @Test(arguments: [
        "Model.Container", "Model.Container/Employees", "Model.Container/$count", "$all/$count", "$allx", "Employees?$id=1",
        "Employees(1)/$value?$id=1", "$entity", "$ref?$id=1", "Model.Container/$all/Employee/Name", "$crossjoin()",
        "$crossjoin(Products)/ID",
    ])
    func `other spellings are refused`(url: String) {
        #expect(throws: QueryParsingError.self) { try parser.query(url) }
        #expect(throws: QueryParsingError.self) { try QueryParser().query(url) }
    }

    @Test func `an id can follow only a reference or an entity`() throws {
        var query = ODataQuery(ResourcePath(entitySet: "A").key(1).property("B").ref())
        query.options.entityID = "B(0)"
        #expect(try QueryPrinter().text(of: query) == "A(1)/B/$ref?$id=B(0)")
        #expect(try QueryPrinter(version: .v401).text(of: query) == "A(1)/B/$ref?$id=B(0)")
        #expect(throws: ODataQueryError.self) { try QueryPrinter(version: .v2).text(of: query) }
        query.resource = ResourcePath(entitySet: "A").key(1).property("B")
        #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: query) }
    }

    @Test func `a V2 path may name the container of a set`() throws {
        let parser = QueryParser(version: .v2)
        for url in ["Ns.Container.People", "Container.People(1)/Trips", "C.People(1)/$links/Trips", "C.People/$count"] {
            #expect(try QueryPrinter(version: .v2).text(of: parser.query(url)) == url)
        }
        #expect(throws: QueryParsingError.self) { try QueryParser().query("Container.People(1)") }
    }

    // MARK: Keys as segments

    @Test func `each part of a compound key can be a segment`() throws {
        let orders = ResourcePath(entitySet: "OrderItems")
        let both = orders.keySegment(1).keySegment(2)
        #expect(try parser.resource("OrderItems/1/2") == both)
        #expect(try QueryParser().resource("OrderItems/1/2") == both)
        #expect(try parser.resource("OrderItems/1/2/Name") == both.property("Name"))
        #expect(try parser.resource("OrderItems/1/2/3/Items/4") == both.keySegment(3).property("Items").keySegment(4))
        #expect(try parser.resource("OrderItems/A1245/2001") == orders.keySegment("A1245").keySegment(2001))
        #expect(try parser.resource("OrderItems/1/O'Neil/Manager") == orders.keySegment(1).keySegment("O'Neil").property("Manager"))
        #expect(try parser.resource("OrderItems/a%2Fb/c%20d") == orders.keySegment("a/b").keySegment("c d"))
        #expect(try parser.resource("OrderItems/-1/-2") == orders.keySegment(-1).keySegment(-2))
        #expect(try parser.resource("OrderItems/1/2/$ref") == both.ref())
        #expect(try parser.resource("OrderItems/1/2/Model.Employee/Name") == both.cast(to: "Model.Employee").property("Name"))
        #expect(try parser.resource("Employees(1)/Names/0") == ResourcePath(entitySet: "Employees").key(1).property("Names").element(at: 0))
        for wrong in ["Employees(1)/2", "Employees(1)/Manager/2", "Employees(1)/Name/x", "Employees/1/Name/2"] {
            #expect(throws: QueryParsingError.self, "\(wrong)") { try parser.resource(wrong) }
        }
    }

    @Test(arguments: [
        "ada-lovelace", "O'Neil", "ada.lovelace", "a.b.c", "-5", "-5.5", "007", "+7", "1e5", "2026-11-26", "-PT5S", "PT1M30S", "P1DT2.5S",
        "abcdef01-2345-6789-abcd-ef0123456789", "ABCDEF01-2345-6789-ABCD-EF0123456789", "true", "12:30:00", "a(b)", "a('b')", "$count",
        "@me", "a=b", "a,b", "~x", "Größe-3", "50%", "a/b", "..a", "a b",
    ])
    func `any text can be a key as a segment`(key: String) throws {
        let printer = QueryPrinter(version: .v401)
        for path in [ResourcePath(entitySet: "People"), ResourcePath(entitySet: "People").cast(to: "Ns.Employee")] {
            for path in [path.keySegment(key), path.keySegment(key).property("Trips"), path.keySegment(key).cast(to: "Ns.Boss").ref()] {
                let text = try printer.text(of: path)
                let read = try QueryParser().resource(text)
                #expect(try printer.text(of: read) == text)
                // Without a model, a name may be a property; anything else is a key.
                let isName = key.wholeMatch(of: /[A-Za-z_]\w*(\.[A-Za-z_]\w*)*/) != nil
                let isKey = read.segments.contains { if case .keySegment = $0 { true } else { false } }
                #expect(isKey || isName || key == "-5" && path.segments.last == .keySegment(.string(key)), "\(text)")
            }
        }
        #expect(throws: QueryParsingError.self) { try QueryParser(version: .v2).resource("People/5") }
    }

    // MARK: Enumerations

    @Test(arguments: [
        "32", "Solid,Yellow,+42", "Solid,Yellow,-42", "-1", "0", "+0", "Yellow", "Solid,Yellow", "1,2,4", "9223372036854775807",
        "-9223372036854775808", "Größe,8",
    ])
    func `members of an enumeration may be numbers`(member: String) throws {
        let encoded = member.replacing("+", with: "%2B").replacing("ö", with: "%C3%B6").replacing("ß", with: "%C3%9F")
        let value = EdmValue.enumeration(type: "Sales.Pattern", member: member)
        for version in [ODataVersion.v4, .v401] {
            let printer = QueryPrinter(version: version)
            let parser = QueryParser(version: version)
            let literal = "Sales.Pattern'\(encoded)'"
            #expect(try printer.text(of: value) == literal)
            #expect(try parser.literal(literal) == value)
            for url in ["P?$filter=style%20has%20\(literal)", "P?$filter=style%20eq%20\(literal)", "P(\(literal))", "F(a=\(literal))"] {
                #expect(try printer.text(of: parser.query(url)) == url)
            }
            let listed = try printer.text(of: parser.query("P?$filter=style in (\(literal),Sales.Pattern'Solid')"))
            #expect(listed == "P?$filter=style%20eq%20\(literal)%20or%20style%20eq%20Sales.Pattern'Solid'")
            #expect(try QueryPrinter(version: version, enumerations: .bare).text(of: value) == "'\(encoded)'")
        }
        #expect(try QueryPrinter(version: .v2).text(of: EdmValue.enumeration(type: nil, member: "32")) == "'32'")
    }

    @Test func `members are printed as they were parsed`() throws {
        enum Pattern: String, EdmEnumeration { case solid = "Solid"; static let edmTypeName = "Sales.Pattern" }
        let read = try ODataDecoder().decode(
            [OpenEnumeration<Pattern>].self, from: Data(#"["Solid",32,"33","-5","Solid, Yellow"]"#.utf8))
        let texts = try read.map { try QueryPrinter().text(of: $0.edmValue) }
        #expect(
            texts == [
                "Sales.Pattern'Solid'", "Sales.Pattern'32'", "Sales.Pattern'33'", "Sales.Pattern'-5'", "Sales.Pattern'Solid,Yellow'",
            ])
        let flags = try ODataDecoder().decode([EdmFlags<Pattern>].self, from: Data(#"["Solid, 8","9"]"#.utf8))
        #expect(try flags.map { try QueryPrinter().text(of: $0.edmValue) } == ["Sales.Pattern'Solid,8'", "Sales.Pattern'9'"])
    }

    @Test(arguments: ["", ",", "Solid,", "1.5", "99999999999999999999", "a b", "1e5", "0x10", "'", "--1", "+"])
    func `a text that is neither a name nor a number isn't a member`(member: String) {
        #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: EdmValue.enumeration(type: "Ns.E", member: member)) }
        #expect(throws: QueryParsingError.self) { try QueryParser().literal("Ns.E'\(member)'") }
    }
}

/// Tests the parsing with a service's model.
@Suite struct ServiceModelParsingTests {
    private static let document = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Sales" Alias="self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Total" Type="Edm.Decimal"/><Property Name="Tags" Type="Collection(Edm.String)"/>
        <Property Name="Address" Type="self.Address"/><NavigationProperty Name="Items" Type="Collection(self.Item)"/></EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Price" Type="Edm.Decimal"/><NavigationProperty Name="Order" Type="self.Order"/>
        <Annotation Term="Org.OData.Aggregation.V1.CustomAggregate" Qualifier="Forecast" String="Edm.Decimal"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
        <Function Name="Late" IsBound="true"><Parameter Name="it" Type="Collection(self.Order)"/><Parameter Name="days" Type="Edm.Int32"/>
        <ReturnType Type="Collection(self.Order)"/></Function>
        <Action Name="Cancel" IsBound="true"><Parameter Name="it" Type="self.Order"/></Action>
        <Function Name="Best"><ReturnType Type="self.Order"/></Function><Action Name="Reset"/>
        <EntityContainer Name="Container"><EntitySet Name="Orders" EntityType="self.Order"/><EntitySet Name="Items" EntityType="self.Item"/>
        <Singleton Name="Latest" Type="self.Order"/><FunctionImport Name="Best" Function="self.Best"/>
        <ActionImport Name="Reset" Action="self.Reset"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test(arguments: [
        "Orders(1)/Items(2)/Order/Total", "Orders/Sales.Late(days=3)/$count", "Orders(1)/Sales.Cancel", "Best()/Items", "Reset",
        "Latest/Address/City", "Orders?$filter=Items/any(x1:x1/Price gt 5)&$expand=Items($select=Price)", "Orders/5/Items/6",
        "Orders?$orderby=Sum desc&$apply=groupby((Address/City),aggregate(Total with sum as Sum))",
        "Orders?$compute=Total mul 2 as Double&$filter=Double gt 5", "Items?$apply=aggregate(Forecast)", "$all/Sales.Order",
    ])
    func `the names of a model determine the meaning of a text`(url: String) throws {
        let parser = QueryParser(model: try ServiceModel(xml: Data(Self.document.utf8)))
        let query = try parser.query(url.replacing(" ", with: "%20"))
        let read = try QueryPrinter(version: .v401).text(of: query).removingPercentEncoding
        // Options are printed in a fixed order.
        #expect(read.map { Set($0.split(whereSeparator: { "?&".contains($0) })) } == Set(url.split(whereSeparator: { "?&".contains($0) })))
    }

    @Test(arguments: [
        "Order", "Orders(1)/Nope", "Orders?$filter=Nope eq 1", "Orders?$orderby=Sum", "Orders(1)/Total/City", "Orders(1)/Sales.Nope()",
        "Orders(1)/Tags/any", "Best/Items", "$all/Sales.Address",
    ])
    func `a name that the model doesn't have is refused`(url: String) throws {
        let parser = QueryParser(model: try ServiceModel(xml: Data(Self.document.utf8)))
        #expect(throws: QueryParsingError.self) { try parser.query(url.replacing(" ", with: "%20")) }
    }

    @Test func `an open type may have any property`() throws {
        let text = Self.document.replacing("<EntityType Name=\"Order\">", with: "<EntityType Name=\"Order\" OpenType=\"true\">")
        let parser = QueryParser(model: try ServiceModel(xml: Data(text.utf8)))
        #expect(try parser.query("Orders?$filter=Nope%20eq%201").options.filter != nil)
    }
}
