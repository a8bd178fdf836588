import Foundation
import OData
import Testing

@Suite struct TypeVerificationTests {
    enum Gender: String, Codable, CaseIterable, EdmEnumeration {
        static let edmTypeName = "Sales.Gender"
        case female = "Female", male = "Male", unknown = "Unknown"
    }

    enum OldGender: String, Codable, CaseIterable { case female = "Female", mail = "Mail" }

    struct Home: Codable, Sendable { let City: String?; let Zip: Presence<String> }

    struct Customer: Decodable, Sendable, EntityType {
        static let entitySetName = "People"
        let ID: UUID
        let Name: String
        let Age: Int?
        let Born: EdmDate?
        let Seen: Presence<Date>
        let Gender: OpenEnumeration<TypeVerificationTests.Gender>?
        let Address: Home?
        let Emails: [String]
        let Salary: EdmDecimal?
        let Photo: EdmStream?
        let Orders: ToMany<Purchase>
        let Boss: ToOne<DynamicEntity>
    }

    struct Purchase: Codable, Sendable { let ID: Int; let Line: Int32; let Total: Decimal? }

    private func faults(_ type: any Decodable.Type, as name: String = "Sales.Person") throws -> [ModelFault] {
        try VerifiedModel.read().verify(type, as: name)
    }

    @Test func `a type that fits has no faults`() throws {
        let faults = Customer.verify(against: try VerifiedModel.read())
        #expect(faults.isEmpty, "\(faults)")
        #expect(throws: Never.self) { try Customer.requireFit(to: VerifiedModel.read()) }
        #expect(try self.faults(ODataEntity<Customer>.self).isEmpty)
        #expect(try self.faults(DynamicEntity.self).isEmpty)
    }

    @Test func `differences in names, types and nullability are reported`() throws {
        struct Wrong: Decodable, Sendable {
            let ID: String
            let Nam: String
            let Age: Int
            let Salary: Double?
            let Emails: String
            let Seen: EdmDate?
            let Address: String?
            let Orders: [Row]?
            let Boss: ToMany<DynamicEntity>
            let Name: ToOne<DynamicEntity>
        }
        struct Row: Decodable, Sendable { let ID: Int8; let Totl: Double? }
        let faults = try faults(Wrong.self)
        #expect(
            faults.map { "\($0.place) \($0.kind)" } == [
                "Wrong.ID wrongType", "Wrong.Nam unknownProperty", "Wrong.Age nullability", "Wrong.Salary precision",
                "Wrong.Emails wrongType", "Wrong.Seen wrongType", "Wrong.Address wrongType", "Wrong.Boss wrongType",
                "Wrong.Name wrongType", "Row.ID precision", "Row.Totl unknownProperty",
            ], "\(faults)")
        #expect(faults[0].fix == "use UUID" && faults[1].fix == "the nearest name is 'Name'")
        #expect(faults[2].description == "Wrong.Age: 'Sales.Person/Age' can be null, but Int can't; make it optional, or use Presence")
    }

    @Test func `differences in members of enumerations are reported`() throws {
        struct Wrong: Decodable, Sendable { let Gender: OldGender? }
        let faults = try faults(Wrong.self)
        #expect(faults.map(\.kind) == [.unknownMember, .missingMember, .missingMember])
        #expect(faults.map(\.offender) == ["Mail", "Male", "Unknown"])
        struct Open: Decodable, Sendable { let Gender: OpenEnumeration<OldGender>? }
        #expect(try self.faults(Open.self).map(\.kind) == [.unknownMember])
        struct Text: Decodable, Sendable { let Gender: String? }
        #expect(try self.faults(Text.self).isEmpty)
        struct Number: Decodable, Sendable { let Gender: Int? }
        #expect(try self.faults(Number.self).map(\.kind) == [.wrongType])
    }

    @Test func `a type or set that the model doesn't have is reported`() throws {
        struct Lost: Decodable, Sendable, EntityType { static let entitySetName = "Persons" }
        #expect(Lost.verify(against: try VerifiedModel.read()).map(\.kind) == [.unknownResource])
        #expect(try faults(Home.self, as: "Sales.Adress").first?.fix == "the nearest name is 'Sales.Address'")
        #expect(throws: ModelFaults.self) { try Lost.requireFit(to: VerifiedModel.read()) }
    }

    @Test func `a type that rejects samples is reported, and its decoded properties are compared`() throws {
        struct Picky: Decodable, Sendable {
            let Agee: Int?
            let Name: String
            enum CodingKeys: CodingKey { case Agee, Name }
            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                Agee = try values.decodeIfPresent(Int.self, forKey: .Agee)
                Name = try values.decode(String.self, forKey: .Name)
                guard Name.hasPrefix("N") else {
                    throw DecodingError.dataCorruptedError(forKey: .Name, in: values, debugDescription: "names begin with N")
                }
            }
        }
        let faults = try faults(Picky.self)
        #expect(faults.map(\.kind) == [.undetermined, .unknownProperty])
        #expect(faults.first?.problem.contains("names begin with N") == true)
    }

    @Test func `the comparison of recursive types ends`() throws {
        final class Node: Decodable, Sendable { let Name: String; let Boss: Node? }
        #expect(try faults(Node.self).isEmpty)
    }

    @Test func `a generated type is compared with the service's current model`() throws {
        struct OldPerson: ItemModel {
            static let typeName = "Sales.Person"
            static let schema = ItemSchema(
                """
                type Sales.Person
                 ID Edm.Guid! key
                 Age Edm.String
                 Emails Edm.String
                 Nick Edm.String
                 Gender Sales.Gender
                 Address Sales.Address
                 Orders > [Sales.Order]
                complex Sales.Address
                 City Edm.String
                type Sales.Order
                 ID Edm.Int32
                enum Sales.Gender
                 Female 0
                """)
        }
        let faults = try faults(ODataItem<OldPerson>.self)
        #expect(faults.map(\.offender) == ["Age", "Emails", "Nick"], "\(faults)")
    }
}
