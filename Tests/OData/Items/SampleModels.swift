import OData
import WebServiceClient

enum SampleGraph {
    static let schema = OData.ItemSchema(
        """
        type microsoft.graph.entity abstract
         id Edm.String! key
        type microsoft.graph.directoryObject : microsoft.graph.entity
         deletedDateTime Edm.DateTimeOffset
        type microsoft.graph.user : microsoft.graph.directoryObject open
         accountEnabled Edm.Boolean
         age Edm.Int32
         ageGroup microsoft.graph.ageGroup
         assignedPlans [microsoft.graph.assignedPlan]!
         createdDateTime Edm.DateTimeOffset computed
         displayName Edm.String
         employeeId Edm.String immutable
         home microsoft.graph.address
         otherMails [Edm.String]!
         quota Edm.Int64
         rights microsoft.graph.rights
         score Edm.Decimal
         securityIdentifier Edm.Guid readonly
         photo Edm.Stream
         manager > microsoft.graph.directoryObject
         memberOf > [microsoft.graph.directoryObject]
         drive > microsoft.graph.drive
        type microsoft.graph.group : microsoft.graph.directoryObject
         description Edm.String
         displayName Edm.String
         hashValue Edm.String
         members > [microsoft.graph.directoryObject]
        derived microsoft.graph.device : microsoft.graph.directoryObject
        derived microsoft.graph.educationUser : microsoft.graph.user
        complex microsoft.graph.address
         city Edm.String
         location Edm.GeographyPoint
         street Edm.String!
        complex microsoft.graph.postalAddress : microsoft.graph.address
         postalCode Edm.String
        complex microsoft.graph.assignedPlan
         assignedDateTime Edm.DateTimeOffset
         service Edm.String
         servicePlanId Edm.Guid
        enum microsoft.graph.ageGroup
         minor 1
         notAdult 2
         adult 3
         unknownFutureValue 4
        flags microsoft.graph.rights
         none 0
         read 1
         write 2
         readWrite 3
         delete 4
        """)

    protocol SchemaModel: OData.ItemModel {}
    protocol SchemaTag: OData.OpenMemberTag {}

    protocol EntityProperties: SchemaModel {}
    protocol DirectoryObjectProperties: EntityProperties {}
    protocol AddressProperties: SchemaModel {}

    struct EntityModel: EntityProperties {
        init() {}
        static var typeName: String { "microsoft.graph.entity" }
    }
    typealias Entity = OData.ODataItem<EntityModel>

    struct DirectoryObjectModel: DirectoryObjectProperties {
        init() {}
        static var typeName: String { "microsoft.graph.directoryObject" }
    }
    typealias DirectoryObject = OData.ODataItem<DirectoryObjectModel>

    struct UserModel: DirectoryObjectProperties {
        init() {}
        static var typeName: String { "microsoft.graph.user" }
        var accountEnabled: OData.ItemField<Bool> { .init("accountEnabled") }
        var age: OData.ItemField<Int32> { .init("age") }
        var ageGroup: OData.ItemField<AgeGroup> { .init("ageGroup") }
        var assignedPlans: OData.ItemField<[AssignedPlan]> { .init("assignedPlans") }
        var createdDateTime: OData.ItemField<OData.EdmDateTimeOffset> { .init("createdDateTime") }
        var displayName: OData.ItemField<String> { .init("displayName") }
        var drive: OData.ItemOne<OData.UntypedModel> { .init("drive") }
        var employeeId: OData.ItemField<String> { .init("employeeId") }
        var home: OData.ItemField<Address> { .init("home") }
        var manager: OData.ItemOne<DirectoryObjectModel> { .init("manager") }
        var memberOf: OData.ItemMany<DirectoryObjectModel> { .init("memberOf") }
        var otherMails: OData.ItemField<[String]> { .init("otherMails") }
        var photo: OData.ItemStream { .init("photo") }
        var quota: OData.ItemField<Int64> { .init("quota") }
        var rights: OData.ItemField<Rights> { .init("rights") }
        var score: OData.ItemField<OData.EdmDecimal> { .init("score") }
        var securityIdentifier: OData.ItemField<OData.EdmGuid> { .init("securityIdentifier") }
    }
    typealias User = OData.ODataItem<UserModel>

    struct GroupModel: DirectoryObjectProperties {
        init() {}
        static var typeName: String { "microsoft.graph.group" }
        var description: OData.ItemField<String> { .init("description") }
        var displayName: OData.ItemField<String> { .init("displayName") }
        var hashValue_: OData.ItemField<String> { .init("hashValue") }
        var members: OData.ItemMany<DirectoryObjectModel> { .init("members") }
    }
    typealias Group = OData.ODataItem<GroupModel>

    struct AddressModel: AddressProperties {
        init() {}
        static var typeName: String { "microsoft.graph.address" }
    }
    typealias Address = OData.ODataItem<AddressModel>

    struct PostalAddressModel: AddressProperties {
        init() {}
        static var typeName: String { "microsoft.graph.postalAddress" }
        var postalCode: OData.ItemField<String> { .init("postalCode") }
    }
    typealias PostalAddress = OData.ODataItem<PostalAddressModel>

    struct AssignedPlanModel: SchemaModel {
        init() {}
        static var typeName: String { "microsoft.graph.assignedPlan" }
        var assignedDateTime: OData.ItemField<OData.EdmDateTimeOffset> { .init("assignedDateTime") }
        var service: OData.ItemField<String> { .init("service") }
        var servicePlanId: OData.ItemField<OData.EdmGuid> { .init("servicePlanId") }
    }
    typealias AssignedPlan = OData.ODataItem<AssignedPlanModel>

    enum AgeGroupTag: SchemaTag {
        static var typeName: String { "microsoft.graph.ageGroup" }
    }
    typealias AgeGroup = OData.OpenMember<AgeGroupTag>

    enum RightsTag: SchemaTag {
        static var typeName: String { "microsoft.graph.rights" }
    }
    typealias Rights = OData.OpenFlags<RightsTag>
}

extension SampleGraph.SchemaModel {
    static var schema: OData.ItemSchema { SampleGraph.schema }
}

extension SampleGraph.SchemaTag {
    static var schema: OData.ItemSchema { SampleGraph.schema }
}

extension SampleGraph.EntityProperties {
    var id: OData.ItemField<String> { .init("id") }
}

extension SampleGraph.DirectoryObjectProperties {
    var deletedDateTime: OData.ItemField<OData.EdmDateTimeOffset> { .init("deletedDateTime") }
}

extension SampleGraph.AddressProperties {
    var city: OData.ItemField<String> { .init("city") }
    var location: OData.ItemField<OData.EdmSpatial> { .init("location") }
    var street: OData.ItemField<String> { .init("street") }
}

extension OData.ODataItem where Model: SampleGraph.EntityProperties {
    static func key(_ id: String) -> OData.ItemKey<Model> { .init(["id": id]) }
}

extension OData.OpenMember where Tag == SampleGraph.AgeGroupTag {
    static var minor: Self { .init("minor") }
    static var notAdult: Self { .init("notAdult") }
    static var adult: Self { .init("adult") }
    static var unknownFutureValue: Self { .init("unknownFutureValue") }
}

extension OData.OpenFlags where Tag == SampleGraph.RightsTag {
    static var none_: Self { .init(rawValue: 0) }
    static var read: Self { .init(rawValue: 1) }
    static var write: Self { .init(rawValue: 2) }
    static var readWrite: Self { .init(rawValue: 3) }
    static var delete: Self { .init(rawValue: 4) }
}

final class SampleGraphClient: OData.ODataClient, @unchecked Sendable {
    var directoryObjects: OData.FetchRequest<SampleGraph.DirectoryObject> { .init(resource: .init(entitySet: "directoryObjects")) }
    var groups: OData.FetchRequest<SampleGraph.Group> { .init(resource: .init(entitySet: "groups")) }
    var me: OData.EntityRequest<SampleGraph.User> { .init(resource: .init(singleton: "me")) }
    var users: OData.FetchRequest<SampleGraph.User> { .init(resource: .init(entitySet: "users")) }
}

enum SampleNorthwind {
    static let schema = OData.ItemSchema(
        """
        type NorthwindModel.Category
         CategoryID Edm.Int32! key readonly
         CategoryName Edm.String!
         Picture Edm.Binary
         Products > [NorthwindModel.Product]
        type NorthwindModel.Order
         OrderID Edm.Int32! key
         Freight Edm.Decimal
         OrderDate Edm.DateTime
         ShipTime Edm.Time
         Total Edm.Int64
         Weight Edm.Double
         Order_Details > [NorthwindModel.Order_Detail]
        type NorthwindModel.Order_Detail
         OrderID Edm.Int32! key
         ProductID Edm.Int32! key
         Discount Edm.Single!
         Quantity Edm.Int16!
         Order > NorthwindModel.Order
        type NorthwindModel.Product
         ProductID Edm.Int32! key
         Discontinued Edm.Boolean!
         ProductName Edm.String!
         UnitPrice Edm.Decimal
         Category > NorthwindModel.Category
        """)

    protocol SchemaModel: OData.ItemModel {}

    struct CategoryModel: SchemaModel {
        init() {}
        static var typeName: String { "NorthwindModel.Category" }
        var categoryID: OData.ItemField<Int32> { .init("CategoryID") }
        var categoryName: OData.ItemField<String> { .init("CategoryName") }
        var picture: OData.ItemField<OData.EdmBinary> { .init("Picture") }
        var products: OData.ItemMany<ProductModel> { .init("Products") }
    }
    typealias Category = OData.ODataItem<CategoryModel>

    struct OrderModel: SchemaModel {
        init() {}
        static var typeName: String { "NorthwindModel.Order" }
        var freight: OData.ItemField<OData.EdmDecimal> { .init("Freight") }
        var orderDate: OData.ItemField<OData.EdmDateTimeOffset> { .init("OrderDate") }
        var orderID: OData.ItemField<Int32> { .init("OrderID") }
        var order_Details: OData.ItemMany<Order_DetailModel> { .init("Order_Details") }
        var shipTime: OData.ItemField<OData.EdmTimeOfDay> { .init("ShipTime") }
        var total: OData.ItemField<Int64> { .init("Total") }
        var weight: OData.ItemField<Double> { .init("Weight") }
    }
    typealias Order = OData.ODataItem<OrderModel>

    struct Order_DetailModel: SchemaModel {
        init() {}
        static var typeName: String { "NorthwindModel.Order_Detail" }
        var discount: OData.ItemField<Float> { .init("Discount") }
        var order: OData.ItemOne<OrderModel> { .init("Order") }
        var orderID: OData.ItemField<Int32> { .init("OrderID") }
        var productID: OData.ItemField<Int32> { .init("ProductID") }
        var quantity: OData.ItemField<Int16> { .init("Quantity") }
    }
    typealias Order_Detail = OData.ODataItem<Order_DetailModel>

    struct ProductModel: SchemaModel {
        init() {}
        static var typeName: String { "NorthwindModel.Product" }
        var category: OData.ItemOne<CategoryModel> { .init("Category") }
        var discontinued: OData.ItemField<Bool> { .init("Discontinued") }
        var productID: OData.ItemField<Int32> { .init("ProductID") }
        var productName: OData.ItemField<String> { .init("ProductName") }
        var unitPrice: OData.ItemField<OData.EdmDecimal> { .init("UnitPrice") }
    }
    typealias Product = OData.ODataItem<ProductModel>
}

extension SampleNorthwind.SchemaModel {
    static var schema: OData.ItemSchema { SampleNorthwind.schema }
}

extension OData.ODataItem where Model == SampleNorthwind.CategoryModel {
    static func key(_ categoryID: Int32) -> OData.ItemKey<Model> { .init(["CategoryID": categoryID]) }
}

extension OData.ODataItem where Model == SampleNorthwind.OrderModel {
    static func key(_ orderID: Int32) -> OData.ItemKey<Model> { .init(["OrderID": orderID]) }
}

extension OData.ODataItem where Model == SampleNorthwind.Order_DetailModel {
    static func key(orderID: Int32, productID: Int32) -> OData.ItemKey<Model> { .init(["OrderID": orderID, "ProductID": productID]) }
}

extension OData.ODataItem where Model == SampleNorthwind.ProductModel {
    static func key(_ productID: Int32) -> OData.ItemKey<Model> { .init(["ProductID": productID]) }
}

final class SampleNorthwindClient: OData.ODataClient, @unchecked Sendable {
    override class var defaults: EndpointDefaults { .odata(.v2) }
    var categories: OData.FetchRequest<SampleNorthwind.Category> { .init(resource: .init(entitySet: "Categories")) }
    var orders: OData.FetchRequest<SampleNorthwind.Order> { .init(resource: .init(entitySet: "Orders")) }
    var order_Details: OData.FetchRequest<SampleNorthwind.Order_Detail> { .init(resource: .init(entitySet: "Order_Details")) }
    var products: OData.FetchRequest<SampleNorthwind.Product> { .init(resource: .init(entitySet: "Products")) }
}
