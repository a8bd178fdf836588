import Foundation
import OData
import Testing

@Suite struct FetchRequestTests {
    private let all =
        "UserName,LastName,Name,Age,IsActive,IsHidden,Gender,Favourite,Emails,Address,Home,BestFriend,Friends,Trips,Registered"

    private func text<Entity>(_ request: FetchRequest<Entity>) throws -> String? {
        try request.relativeURL().removingPercentEncoding
    }

    @Test func theDecodedPropertiesAreSelected() throws {
        #expect(try text(FetchRequest<Person>()) == "People?$select=" + all)
        #expect(FetchRequest<Person>().selectionNote == nil)
        #expect(try text(FetchRequest<Person>(from: "Staff").selectAll()) == "Staff")
        let dynamic = FetchRequest<DynamicEntity>(from: "People")
        #expect(try text(dynamic) == "People")
        #expect(dynamic.selectionNote?.contains("DynamicEntity") == true)
    }

    @Test func selectByKeyPathAndName() throws {
        #expect(try text(FetchRequest<Person>().select(\.name, \.age)) == "People?$select=LastName,Age")
        #expect(try text(FetchRequest<Person>().select(\.name).select(\.name, \.home.city)) == "People?$select=LastName,Home/City")
        #expect(try text(FetchRequest<Person>().select("A", "B/C")) == "People?$select=A,B/C")
    }

    @Test func expandTakesNestedOptions() throws {
        let request = FetchRequest<Person>().select(\.name)
        #expect(
            try text(request.expand(\.trips) { $0.order(by: .descending(\.startsAt)).top(3).select(\.id) })
                == "People?$select=LastName&$expand=Trips($select=TripId;$orderby=StartsAt desc;$top=3)")
        #expect(try text(request.expand(\.friends) { $0.selectAll() }) == "People?$select=LastName&$expand=Friends")
        #expect(try text(request.expand(\.bestFriend)) == "People?$select=LastName&$expand=BestFriend($select=Nick,Age,Friend)")
        #expect(
            try text(
                request.expand(\.friends) { $0.select(\.name).expand(\.trips) { $0.selectAll().filter { $0.budget > 1 } } }
                    .expand("Photo") { $0.select("Name").skip(1).count() })
                == "People?$select=LastName&$expand=Friends($select=LastName;$expand=Trips($filter=Budget gt 1.0)),Photo($select=Name;$skip=1;$count=true)"
        )
    }

    @Test func expandedPropertiesLeaveTheDefaultSelection() throws {
        let request = FetchRequest<Person>().expand(\.trips) { $0.selectAll() }.expand(\.friends) { $0.selectAll() }
        let selected = all.replacing(",Friends,Trips", with: "")
        #expect(try text(request) == "People?$select=\(selected)&$expand=Trips,Friends")
    }

    @Test func aRelationIsExpandedOnce() {
        let request = FetchRequest<Person>().expand(\.trips).expand("Trips")
        let error = #expect(throws: ODataQueryError.self) { try request.relativeURL() }
        #expect(error?.description.contains("'Trips' is expanded twice") == true)
    }

    @Test func orderRangeCountAndCustomOptions() throws {
        let request = FetchRequest<Person>().selectAll()
            .order(by: .ascending(\.lastName), .descending(\.home.city)).order(by: .ascending { $0.name.length }, .descending("X"))
            .top(20).skip(40).count().option("sap-client", "1 & 2")
        #expect(
            try request.relativeURL()
                == "People?$orderby=Name,Home/City%20desc,length(LastName),X%20desc&$top=20&$skip=40&$count=true&sap-client=1%20%26%202")
    }

    @Test func filtersAreJoined() throws {
        let request = FetchRequest<Person>().selectAll().filter { $0.age > 1 || $0.isActive }.filter { $0.age < 3 }
        #expect(try text(request) == "People?$filter=(Age gt 1 or IsActive) and Age lt 3")
    }

    @Test func searchQuotesAllButPlainWords() throws {
        func search(_ change: (FetchRequest<DynamicEntity>) -> FetchRequest<DynamicEntity>) throws -> String? {
            try text(change(FetchRequest(from: "A")))
        }
        #expect(try search { $0.search("blue widgets2") } == "A?$search=blue widgets2")
        #expect(try search { $0.search("blue-green NOT é") } == "A?$search=\"blue-green\" \"NOT\" \"é\"")
        #expect(try search { $0.search(phrase: "a \\ b").search("c") } == "A?$search=\"a \\\\ b\" AND c")
        for wrong in ["", "  ", "say \"x\""] {
            #expect(throws: ODataQueryError.self) { try search { $0.search(wrong) } }
        }
    }

    @Test func keys() throws {
        let people = FetchRequest<Person>().selectAll()
        #expect(try people.key(5).relativeURL() == "People(5)")
        #expect(try people.key("O'Neil/a?b%2F&").relativeURL() == "People('O''Neil%2Fa%3Fb%252F%26')")
        #expect(try people.key(byAlias: "a/b").relativeURL() == "People(@key)?@key='a%2Fb'")
        #expect(try people.key(["OrderID": 1, "Name": "x,y"]).relativeURL() == "People(OrderID=1,Name='x%2Cy')")
        #expect(try people.key(Gender.male).relativeURL() == "People(Trippin.Gender'Male')")
        #expect(try people.key(1).expand(\.trips) { $0.selectAll() }.relativeURL() == "People(1)?$expand=Trips")
        #expect(try EntityRequest<Person>(at: "Me").select(\.age).relativeURL() == "Me?$select=Age")
        #expect(throws: ODataQueryError.self) { try people.key(Int?.none).relativeURL() }
        #expect(throws: ODataQueryError.self) { try people.key(1.5).relativeURL() }
        #expect(throws: ODataQueryError.self) { try people.key(["A B": 1]).relativeURL() }
        #expect(throws: ODataQueryError.self) { try people.key([:]).relativeURL() }
        let error = #expect(throws: ODataQueryError.self) { try people.top(3).key(1).relativeURL() }
        #expect(error?.description.contains("$top") == true)
    }

    @Test func paths() throws {
        func path(_ text: String) throws -> String {
            try FetchRequest<DynamicEntity>(from: text).relativeURL()
        }
        #expect(try path("People('O''Neil & Söhne/2')/Trips") == "People('O''Neil%20%26%20S%C3%B6hne%2F2')/Trips")
        #expect(try path("Ns.Top(count=5)") == "Ns.Top(count=5)")
        for wrong in ["", "/People", "People/", "a//b", "../x", "a/./b", "People?$top=1", "People#x", "a%20b", "People('x"] {
            #expect(throws: ODataQueryError.self) { try path(wrong) }
        }
    }

    @Test func badOptionsAreRefused() {
        let people = FetchRequest<Person>().selectAll()
        for wrong in [people.top(-1), people.skip(-1), people.option("$top", "1"), people.option("", "1"), people.option("@a", "1")] {
            #expect(throws: ODataQueryError.self) { try wrong.relativeURL() }
        }
    }
}
