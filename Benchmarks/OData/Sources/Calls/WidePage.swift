import Foundation
import OData

// A page of wide entities, as in directories of users: 81 properties and 56 relations. A page contains few of them.

struct WidePlan: Codable, Sendable, Hashable {
    var assignedDateTime: Presence<EdmDateTimeOffset>
    var capabilityStatus, service, servicePlanId: Presence<String>
}

struct WideLicence: Codable, Sendable, Hashable {
    var skuId: Presence<String>
    var disabledPlans: Presence<[String]>
}

struct WideTarget: Codable, Sendable, Hashable {
    var id: String
    var displayName: Presence<String>
}

/// The properties without the relations.
struct NarrowUser: Codable, Sendable, Hashable {
    var id: String
    var homeTitle, workTitle, travelTitle, mailTitle, phoneTitle, badgeTitle, deskTitle, parkingTitle: Presence<String>
    var contractTitle, salaryTitle, trainingTitle, healthTitle, languageTitle, educationTitle: Presence<String>
    var projectTitle, teamTitle, regionTitle, officeTitle, deviceTitle, vehicleTitle, homeSummary: Presence<String>
    var workSummary, travelSummary, mailSummary, phoneSummary, badgeSummary, deskSummary: Presence<String>
    var parkingSummary, contractSummary, salarySummary, trainingSummary, healthSummary: Presence<String>
    var languageSummary, educationSummary, projectSummary, teamSummary, regionSummary, officeSummary: Presence<String>
    var deviceSummary, vehicleSummary, homeOwnerPrincipalName, workOwnerPrincipalName: Presence<String>
    var travelOwnerPrincipalName, mailOwnerPrincipalName, phoneOwnerPrincipalName: Presence<String>
    var badgeOwnerPrincipalName, deskOwnerPrincipalName, parkingOwnerPrincipalName: Presence<String>
    var contractOwnerPrincipalName, salaryOwnerPrincipalName, trainingOwnerPrincipalName: Presence<String>
    var healthOwnerPrincipalName, languageOwnerPrincipalName, educationOwnerPrincipalName: Presence<String>
    var projectOwnerPrincipalName, teamOwnerPrincipalName, regionOwnerPrincipalName: Presence<String>
    var officeOwnerPrincipalName: Presence<String>
    var homeChangedDateTime, workChangedDateTime, travelChangedDateTime: Presence<EdmDateTimeOffset>
    var mailChangedDateTime, phoneChangedDateTime, badgeChangedDateTime: Presence<EdmDateTimeOffset>
    var deskChangedDateTime, parkingChangedDateTime, contractChangedDateTime: Presence<EdmDateTimeOffset>
    var homeEnabled, workEnabled, travelEnabled, mailEnabled, phoneEnabled, badgeEnabled: Presence<Bool>
    var homeLevel, workLevel, travelLevel: Presence<Int32>
    var plans: Presence<[WidePlan]>
    var licences: Presence<[WideLicence]>
    var addresses, aliases: Presence<[String]>
}

/// The properties and the relations.
struct WideUser: Codable, Sendable, Hashable {
    var id: String
    var homeTitle, workTitle, travelTitle, mailTitle, phoneTitle, badgeTitle, deskTitle, parkingTitle: Presence<String>
    var contractTitle, salaryTitle, trainingTitle, healthTitle, languageTitle, educationTitle: Presence<String>
    var projectTitle, teamTitle, regionTitle, officeTitle, deviceTitle, vehicleTitle, homeSummary: Presence<String>
    var workSummary, travelSummary, mailSummary, phoneSummary, badgeSummary, deskSummary: Presence<String>
    var parkingSummary, contractSummary, salarySummary, trainingSummary, healthSummary: Presence<String>
    var languageSummary, educationSummary, projectSummary, teamSummary, regionSummary, officeSummary: Presence<String>
    var deviceSummary, vehicleSummary, homeOwnerPrincipalName, workOwnerPrincipalName: Presence<String>
    var travelOwnerPrincipalName, mailOwnerPrincipalName, phoneOwnerPrincipalName: Presence<String>
    var badgeOwnerPrincipalName, deskOwnerPrincipalName, parkingOwnerPrincipalName: Presence<String>
    var contractOwnerPrincipalName, salaryOwnerPrincipalName, trainingOwnerPrincipalName: Presence<String>
    var healthOwnerPrincipalName, languageOwnerPrincipalName, educationOwnerPrincipalName: Presence<String>
    var projectOwnerPrincipalName, teamOwnerPrincipalName, regionOwnerPrincipalName: Presence<String>
    var officeOwnerPrincipalName: Presence<String>
    var homeChangedDateTime, workChangedDateTime, travelChangedDateTime: Presence<EdmDateTimeOffset>
    var mailChangedDateTime, phoneChangedDateTime, badgeChangedDateTime: Presence<EdmDateTimeOffset>
    var deskChangedDateTime, parkingChangedDateTime, contractChangedDateTime: Presence<EdmDateTimeOffset>
    var homeEnabled, workEnabled, travelEnabled, mailEnabled, phoneEnabled, badgeEnabled: Presence<Bool>
    var homeLevel, workLevel, travelLevel: Presence<Int32>
    var plans: Presence<[WidePlan]>
    var licences: Presence<[WideLicence]>
    var addresses, aliases: Presence<[String]>
    var homeManager, workManager, travelManager, mailManager, phoneManager, badgeManager, deskManager: ToOne<WideTarget>
    var parkingManager, contractManager, salaryManager, trainingManager, healthManager: ToOne<WideTarget>
    var languageManager, educationManager, projectManager, teamManager, regionManager, officeManager: ToOne<WideTarget>
    var deviceManager, vehicleManager: ToOne<WideTarget>
    var homeAssignments, workAssignments, travelAssignments, mailAssignments, phoneAssignments: ToMany<WideTarget>
    var badgeAssignments, deskAssignments, parkingAssignments, contractAssignments: ToMany<WideTarget>
    var salaryAssignments, trainingAssignments, healthAssignments, languageAssignments: ToMany<WideTarget>
    var educationAssignments, projectAssignments, teamAssignments, regionAssignments: ToMany<WideTarget>
    var officeAssignments, deviceAssignments, vehicleAssignments, homeApprovals, workApprovals: ToMany<WideTarget>
    var travelApprovals, mailApprovals, phoneApprovals, badgeApprovals, deskApprovals: ToMany<WideTarget>
    var parkingApprovals, contractApprovals, salaryApprovals, trainingApprovals, healthApprovals: ToMany<WideTarget>
    var languageApprovals, educationApprovals, projectApprovals, teamApprovals: ToMany<WideTarget>
}

/// The payloads.
enum WidePage {
    static let users = 500
    static let small = page(11, isFull: false)
    static let full = page(44, isFull: true)

    private static let texts = [
        "homeTitle", "workTitle", "travelTitle", "mailTitle",
        "phoneTitle", "badgeTitle", "deskTitle", "parkingTitle",
        "contractTitle", "salaryTitle", "trainingTitle", "healthTitle",
        "languageTitle", "educationTitle", "projectTitle", "teamTitle",
        "regionTitle", "officeTitle", "deviceTitle", "vehicleTitle",
        "homeSummary", "workSummary", "travelSummary", "mailSummary",
        "phoneSummary", "badgeSummary", "deskSummary", "parkingSummary",
        "contractSummary", "salarySummary", "trainingSummary", "healthSummary",
        "languageSummary", "educationSummary", "projectSummary", "teamSummary",
        "regionSummary", "officeSummary", "deviceSummary", "vehicleSummary",
        "homeOwnerPrincipalName", "workOwnerPrincipalName", "travelOwnerPrincipalName", "mailOwnerPrincipalName",
        "phoneOwnerPrincipalName", "badgeOwnerPrincipalName", "deskOwnerPrincipalName", "parkingOwnerPrincipalName",
        "contractOwnerPrincipalName", "salaryOwnerPrincipalName", "trainingOwnerPrincipalName", "healthOwnerPrincipalName",
        "languageOwnerPrincipalName", "educationOwnerPrincipalName", "projectOwnerPrincipalName", "teamOwnerPrincipalName",
        "regionOwnerPrincipalName", "officeOwnerPrincipalName",
    ]
    private static let topics = [
        "home", "work", "travel", "mail", "phone", "badge", "desk", "parking", "contract", "salary",
        "training", "health", "language", "education", "project", "team", "region", "office", "device", "vehicle",
    ]

    /// A page whose users have some properties each, about half of them null.
    private static func page(_ properties: Int, isFull: Bool) -> Data {
        var text = #"{"@odata.context":"https://example.com/odata/$metadata#users","value":["#
        for user in 0..<users {
            if user > 0 { text += "," }
            text += #"{"@odata.id":"https://example.com/odata/users('\#(user)')","id":"\#(UUID(user))""#
            for index in 0..<(isFull ? 30 : properties - 1) {
                text += index % 2 == 0 ? #","\#(texts[index])":"Text \#(user) of \#(index)""# : #","\#(texts[index])":null"#
            }
            if isFull { text += rest(of: user) }
            text += "}"
        }
        return Data((text + "]}").utf8)
    }

    private static func rest(of user: Int) -> String {
        let times = topics.prefix(8).map { #","\#($0)ChangedDateTime":"2024-05-\#(10 + user % 20)T08:30:00Z""# }.joined()
        let flags = topics.prefix(4).map { #","\#($0)Enabled":\#(user % 2 == 0)"# }.joined()
        let numbers = topics.prefix(2).map { #","\#($0)Level":\#(user)"# }.joined()
        let plan =
            #"{"assignedDateTime":"2024-05-10T08:30:00Z","capabilityStatus":"Enabled","service":"exchange","servicePlanId":"\#(UUID(user))"}"#
        let plans = Array(repeating: plan, count: 6).joined(separator: ",")
        return times + flags + numbers + #","plans":[\#(plans)],"licences":[{"skuId":"\#(UUID(user))","disabledPlans":[]}]"#
            + #","aliases":["alias\#(user)@example.com"]"#
    }
}

extension UUID {
    /// A fixed UUID for each number.
    fileprivate init(_ number: Int) {
        let (high, low) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        self.init(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, high, low))
    }
}
